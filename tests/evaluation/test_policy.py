"""Policies: which values a rule is about, and when it holds."""

from dataclasses import replace

import pytest

from assay.analysis.gate import RuleChecker
from assay.evaluation.policy import verdicts, verdicts_of
from assay.results.rules import FailureRule
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.spec.evaluation import Policy
from assay.types import MetricResult, MetricValue


def run(**values):
    """A run with one value a scorer; a value of None is undefined."""
    scorers = tuple(
        ScorerReport(
            key=scorer,
            type="t",
            purpose="score",
            n_scored=4,
            n_failed=0,
            n_excluded=0,
            metrics=(
                MetricReport(
                    key="mean",
                    type="mean",
                    result=MetricResult(
                        values={"accuracy": MetricValue(value=value, n=4, reason=None if value is not None else "none")}
                    ),
                ),
            ),
        )
        for scorer, value in values.items()
    )
    return RunReport(
        run="r",
        status="completed",
        task="t",
        model=None,
        n_samples=4,
        n_failed=0,
        n_cached=0,
        scorers=scorers,
        failures={},
    )


def judged(reports, definition, scope="all_latest"):
    policy = Policy.model_validate({"key": "p", "rules": [{"key": "r", "definition": definition, "scope": scope}]})
    (verdict,) = verdicts([policy], "e", reports)
    return verdict


def at_least(threshold, metric="accuracy"):
    return {"type": "threshold", "metric": metric, "operator": ">=", "threshold": threshold}


@pytest.mark.parametrize(
    ("scope", "passed"),
    [
        ("all_latest", False),
        ({}, False),
        ({"task_specification_keys": ["good"]}, True),
        ({"task_specification_keys": ["bad"]}, False),
        ({"scorer_keys": ["a"]}, True),
        ({"scorer_keys": ["b"]}, False),
        ({"metric_keys": ["mean"], "scorer_keys": ["a"]}, True),
        ({"metric_keys": ["median"]}, False),
        ({"evaluation_keys": ["e"], "scorer_keys": ["a"]}, True),
        ({"evaluation_keys": ["other"]}, False),
    ],
    ids=str,
)
def test_a_threshold_holds_when_all_values_in_scope_satisfy_it_and_there_is_one(scope, passed):
    reports = {"good": run(a=0.9), "bad": run(a=0.8, b=0.1)}
    assert judged(reports, at_least(0.5), scope).passed is passed


def test_nothing_in_scope_fails_and_says_so():
    verdict = judged({"s": run(a=0.9)}, at_least(0.5, "recall"))
    assert (verdict.passed, verdict.reason) == (False, 'no value "recall" is in scope')


def test_an_undefined_value_is_no_pass():
    verdict = judged({"s": run(a=None)}, at_least(0))
    assert not verdict.passed
    assert "undefined: none" in verdict.reason


@pytest.mark.parametrize(("value", "passed"), [(0.0, True), (None, False)])
def test_a_value_exists_when_it_is_defined(value, passed):
    assert judged({"s": run(a=value)}, {"type": "exists", "metric": "a/mean/accuracy"}).passed is passed


def test_the_reason_names_the_value_and_how_many_more_fail():
    verdict = judged({"s": run(a=0.1, b=0.2)}, at_least(0.5))
    assert verdict.reason == "s: a/mean/accuracy: 0.100 is not >= 0.5 (and 1 more)"


def test_one_result_is_judged_by_the_rules_in_whose_scope_it_lies():
    rules = [
        {"key": "mine", "definition": at_least(0.5), "scope": {"task_specification_keys": ["s"]}},
        {"key": "theirs", "definition": at_least(0.5), "scope": {"task_specification_keys": ["other"]}},
    ]
    policy = Policy.model_validate({"key": "p", "rules": rules})
    assert [v.rule for v in verdicts_of([policy], "e", "s", run(a=0.9))] == ["mine"]


@pytest.mark.parametrize(
    ("failed", "rule", "passed"),
    [
        (0, FailureRule(), True),
        (2, FailureRule(), False),
        (2, FailureRule(max_share=0.5), True),
        (2, FailureRule(mode="ignore"), True),
        # without the samples nobody knows where the worst case lies
        (2, FailureRule(mode="worst"), False),
        (0, FailureRule(mode="worst"), True),
    ],
)
def test_failed_samples_reach_policies(failed, rule, passed):
    report = run(exact=1.0)
    report = replace(report, scorers=(replace(report.scorers[0], n_failed=failed),))
    policy = Policy.model_validate(
        {"key": "p", "rules": [{"key": "r", "definition": at_least(0.8), "scope": "all_latest"}]}
    )
    (verdict,) = verdicts([policy], "e", {"s": report}, RuleChecker(rule))
    assert verdict.passed is passed, verdict.reason
    assert (verdict.counts.n, verdict.counts.failed) == (4, failed)
