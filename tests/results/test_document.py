"""The JSON of a run: what is written can be read back."""

from dataclasses import replace
from decimal import Decimal

from assay.results.document import (
    metric_document,
    metric_from,
    report_from,
    run_document,
    summary_document,
    value_document,
)
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.types import Interval, MetricResult, MetricValue, Spending, Usage

VALUE = MetricValue(
    value=0.5,
    n=4,
    interval=Interval(low=0.1, high=0.9, method="wilson_effective", n_effective=3.0, clusters=2, caveat="few clusters"),
)
UNDEFINED = MetricValue(value=None, n=0, reason="no positives")
RESULT = MetricResult(
    values={"a": VALUE, "b": UNDEFINED}, detail={"confusion": {"tp": 1}}, n_excluded=2, groups={"g": {"a": VALUE}}
)
REPORT = RunReport(
    run="abc",
    status="completed",
    task="t",
    model="m",
    n_samples=4,
    n_failed=1,
    n_cached=0,
    scorers=(
        ScorerReport(
            key="s",
            type="string_equals",
            purpose="score",
            n_scored=3,
            n_failed=1,
            n_excluded=0,
            metrics=(MetricReport(key="mean", type="mean", result=RESULT),),
        ),
    ),
    failures={"parse": 1},
    spending=(
        Spending(model="m", purpose="answer", n_calls=4, usage=Usage(prompt_tokens=3), cost_usd=Decimal("0.25")),
        Spending(model="j", purpose="judge", n_calls=4, usage=Usage(completion_tokens=4), cost_usd=Decimal("0.05")),
    ),
)


def test_a_metric_survives_the_way_to_json_and_back():
    assert metric_from(metric_document(RESULT)) == RESULT
    without_groups = MetricResult(values={"a": VALUE})
    assert metric_from(metric_document(without_groups)) == without_groups


def test_a_report_survives_the_way_to_json_and_back():
    head = {"run": "abc", "status": "completed", "task": "t", "model": "m"}
    assert report_from(head, summary_document(REPORT), {"s": REPORT.scorers[0].metrics}) == REPORT


def test_a_metric_s_display_name_is_kept_and_shown_only_where_it_is_set():
    metrics = (*REPORT.scorers[0].metrics, MetricReport(key="m2", type="mean", result=RESULT, display_name="Second"))
    report = replace(REPORT, scorers=(replace(REPORT.scorers[0], metrics=metrics),))
    plain = tuple(replace(metric, display_name=None) for metric in metrics)
    head = {"run": "abc", "status": "completed", "task": "t", "model": "m"}
    assert report_from(head, summary_document(report), {"s": plain}) == report
    (scorer,) = run_document(report)["scorers"]
    assert [metric.get("display_name", "none") for metric in scorer["metrics"]] == ["none", "Second"]
    assert "metric_names" not in scorer


def test_an_undefined_value_is_null_with_its_reason():
    assert value_document(UNDEFINED) == {"value": None, "low": None, "high": None, "n": 0, "reason": "no positives"}


def test_the_json_of_a_run_has_the_documented_fields():
    document = run_document(REPORT)
    assert {
        "run",
        "status",
        "task",
        "model",
        "n_samples",
        "n_failed",
        "n_cached",
        "scorers",
        "usage",
        "cost_usd",
        "failures",
    } <= set(document)
    (scorer,) = document["scorers"]
    assert {"key", "purpose", "n_scored", "n_failed", "n_excluded", "metrics"} <= set(scorer)
    assert scorer["metrics"][0]["detail"] == {"confusion": {"tp": 1}, "n_excluded": 2}
    assert scorer["metrics"][0]["values"]["a"]["method"] == "wilson_effective"


def test_an_unknown_cost_is_null_and_no_cost_is_zero():
    assert run_document(REPORT)["cost_usd"] == 0.3
    assert run_document(REPORT)["usage"] == {"prompt_tokens": 3, "completion_tokens": 4}
    unknown = replace(REPORT, spending=(replace(REPORT.spending[0], cost_usd=None), REPORT.spending[1]))
    assert run_document(unknown)["cost_usd"] is None
    assert run_document(replace(REPORT, spending=()))["cost_usd"] == 0.0
