from __future__ import annotations

from dataclasses import replace

import pytest

import assay
from assay.api.run import failed_share
from assay.results.run import RunReport, ScorerReport

REPORT = RunReport(
    run="r",
    status="completed",
    task="t",
    model=None,
    display_name="t",
    trials=1,
    n_samples=10,
    n_failed=3,
    n_cached=0,
    scorers=(),
    failures={},
    spending=(),
)


def scorer(n_failed):
    return ScorerReport(
        key="s",
        type="s",
        purpose="score",
        n_scored=0,
        n_failed=n_failed,
        n_excluded=0,
        metrics=(),
        display_name=None,
    )


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({"n_samples": 0, "n_failed": 0}, 0.0),
        ({}, 0.3),
        ({"scorers": (scorer(3), scorer(1))}, 0.2),
        ({"scorers": (scorer(3),), "trials": 3}, 0.1),
    ],
)
def test_the_share_that_failed_is_of_the_scores_asked_for(changes, share):
    assert failed_share(replace(REPORT, **changes)) == pytest.approx(share)


def test_checking_from_python(project):
    assert "there is no file" in assay.check(project.folder / "gone.yaml")[0].message
