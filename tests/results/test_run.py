"""Counts of the samples behind a value."""

from __future__ import annotations

import pytest

from assay.results.run import MetricReport, RunReport, SampleCounts, ScorerReport, invalid_count
from assay.types import MetricResult, MetricValue


@pytest.mark.parametrize(
    ("detail", "count"),
    [
        (None, None),
        ({}, None),
        ({"invalid": {"n": 4, "share": 0.1}}, 4),
        ({"invalid": {"share": 0.1}}, None),
    ],
)
def test_invalid_replies_are_counted_where_the_scorer_does(detail, count):
    assert invalid_count(detail) == count


def test_counts_are_always_in_words():
    assert str(SampleCounts(n=1_000)) == "n 1,000, failed 0, excluded 0"
    assert str(SampleCounts(n=1, failed=2, excluded=3, invalid=4)) == "n 1, failed 2, excluded 3, INVALID 4"


def test_the_share_that_failed_is_of_all_answers():
    values = {"accuracy": MetricValue(value=1.0, n=5)}
    metric = MetricReport(key="mean", type="mean", result=MetricResult(values=values, n_excluded=1))
    scorer = ScorerReport(
        key="s",
        type="t",
        purpose="score",
        n_scored=5,
        n_failed=3,
        n_excluded=2,
        metrics=(metric,),
        detail={"invalid": {"n": 1}},
    )
    report = RunReport(
        run="r",
        status="completed",
        task="t",
        model=None,
        n_samples=5,
        trials=3,
        n_failed=3,
        n_cached=0,
        scorers=(scorer,),
        failures={},
    )
    counts = report.counts()["s/mean/accuracy"]
    assert counts == SampleCounts(n=5, failed=3, excluded=3, invalid=1, total=15)
    assert counts.failed_share == pytest.approx(0.2)
    assert SampleCounts(n=0).failed_share == 0
