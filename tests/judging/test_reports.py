"""Reports: what they say at a glance."""

from __future__ import annotations

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.reports import EnsembleCriterionReport, TokenUsage, mean_of
from assay.judging.verdicts import AggregatedMultiChoiceVerdict


def test_usage_adds_up():
    assert (TokenUsage(prompt_tokens=1) + TokenUsage(prompt_tokens=2, completion_tokens=3)).total_tokens == 6


def test_the_mean_of_nothing_is_none():
    assert mean_of([]) is None
    assert mean_of([None, 1.0, 0.0]) == 0.5


def test_a_verdict_is_named_by_its_kind():
    criterion = Criterion(requirement="r")
    met = EnsembleCriterionReport(criterion=criterion, final_verdict=CriterionVerdict.MET, final_reason="why")
    assert (met.final_verdict, met.final_multi_choice_verdict, met.final_reason) == (CriterionVerdict.MET, None, "why")
    chosen = AggregatedMultiChoiceVerdict(selected_index=1, selected_label="Good", value=1.0, aggregated_value=1.0)
    picked = EnsembleCriterionReport(criterion=criterion, final_multi_choice_verdict=chosen)
    assert (picked.final_verdict, picked.final_multi_choice_verdict, picked.label) == (None, chosen, "Good")
