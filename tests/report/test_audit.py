"""Findings of an audit for people and for machines."""

from __future__ import annotations

from decimal import Decimal

import pytest
from rich.console import Console

from assay.report.audit import audit_table, plan_words
from assay.results.audit import AuditPlan, AuditResult, Probe
from assay.stats.audit import held_against, mean_change, share_changed

PLAN = AuditPlan(n_items=9, calls=90, cached=0, cost_usd=(Decimal("0.1"), Decimal("0.2"), Decimal("0.4")))


def _result(**probes):
    return AuditResult(target="rubric.yaml", n_items=9, judges={"openai/gpt-5-mini": probes}, plan=PLAN)


def _shown(result):
    console = Console(width=80, force_terminal=False, no_color=True)
    with console.capture() as captured:
        console.print(audit_table(result))
    return captured.get()


def test_each_verdict_stands_beside_its_effect():
    result = _result(
        position=Probe(finding=held_against(mean_change([1.0] * 50), 0.05)),
        noise=Probe(finding=held_against(share_changed([0] * 100), 0.1), left_out=3),
        verbosity=Probe(finding=held_against(mean_change([0.0] * 5), 0.05), note="mind this"),
        injection=Probe(finding=None, note="there is none"),
    )
    shown = _shown(result)
    assert max(map(len, shown.splitlines())) <= 80
    lines = {line.split()[0]: line for line in reversed(shown.splitlines()) if line.strip()}
    assert "FAIL" in lines["position"]
    assert "PASS" in lines["noise"]
    assert "+" not in lines["noise"]
    assert "not made" in lines["injection"]
    assert "about 73 texts would tell" in shown
    for note in ("noise: 3 pairs lack", "verbosity: mind this", "injection: there is none"):
        assert note in shown
    assert result.failed
    document = result.to_dict()
    assert document["judges"]["openai/gpt-5-mini"]["injection"]["verdict"] is None
    assert document["judges"]["openai/gpt-5-mini"]["verbosity"]["n_to_decide"] == 73
    assert document["plan"]["cost_usd"] == {"low": 0.1, "expected": 0.2, "high": 0.4}


def test_nothing_to_compare_is_shown_as_undefined():
    shown = _shown(_result(verbosity=Probe(finding=held_against(mean_change([]), 0.05), left_out=9)))
    assert "undefined" in shown
    assert "no item has both answers" in shown


def test_an_effect_on_the_threshold_says_so():
    from assay.stats.audit import Finding

    finding = Finding(effect=mean_change([0.05, 0.05]), threshold=0.05, verdict="INCONCLUSIVE")
    assert "on the threshold" in _shown(_result(verbosity=Probe(finding=finding)))


@pytest.mark.parametrize(
    ("calls", "cost", "free", "words"),
    [
        (90, PLAN.cost_usd, False, "about $0.2000 ($0.1000 to $0.4000)"),
        (90, None, False, "price unknown"),
        (90, (Decimal(0),) * 3, True, "free of charge"),
        (0, None, True, "nothing left to ask or pay for"),
    ],
)
def test_a_plan_says_what_it_costs(calls, cost, free, words):
    plan = AuditPlan(n_items=9, calls=calls, cached=0, cost_usd=cost)
    assert plan.is_free is free
    assert words in plan_words(plan)
