"""Which questions a panel asks, and what votes the answers are."""

from __future__ import annotations

import pytest

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.examples import Example, FewShot
from assay.judging.judge import Judge
from assay.judging.panel_config import PanelConfig
from assay.judging.question import Submission
from assay.judging.voting import error_vote, judge_calls, vote_of

PANEL = [Judge(id="a", model="m", weight=2.0), Judge(id="b", model="n")]
TEXT = Submission(text="It is Paris.", row=1)
POLITE = Criterion(requirement="Is polite.")


@pytest.mark.parametrize(
    ("shuffle", "scales", "binary"),
    [("random", 2, 2), ("counterbalanced", 2, 2), ("direction", 2, 2), ("both_orders", 4, 2)],
)
def test_only_both_orders_look_twice_and_only_where_there_are_options(scale, shuffle, scales, binary):
    config = PanelConfig(shuffle=shuffle)
    calls = judge_calls(scale([0.0, 0.5, 1.0]), PANEL, TEXT, config)
    assert len(calls) == scales
    assert all(sorted(call.order) == [0, 1, 2, 3] for call in calls)
    assert [call.order for call in judge_calls(POLITE, PANEL, TEXT, config)] == [None] * binary


def test_without_a_seed_nothing_is_shuffled(scale):
    for shuffle in ("random", "both_orders", "counterbalanced"):
        calls = judge_calls(scale([0.0, 0.5, 1.0]), PANEL, TEXT, PanelConfig(shuffle=shuffle, seed=None))
        assert [call.order for call in calls] == [(0, 1, 2, 3)] * 2


def test_all_judges_see_the_same_examples():
    few_shot = FewShot([Example(requirement="Is polite.", text=f"text {n}", label="MET") for n in range(9)], count=2)
    first, second = judge_calls(POLITE, PANEL, TEXT, PanelConfig(few_shot=few_shot))
    assert first.examples == second.examples
    assert len(first.question.examples) == 2


def test_a_vote_keeps_who_gave_it_and_what_was_shown(scale):
    first, second, *_ = judge_calls(scale([0.0, 0.5, 1.0]), PANEL, TEXT, PanelConfig(shuffle="both_orders"))
    vote = vote_of(second, 1, "why", "thought")
    assert (vote.judge_id, vote.weight, vote.selected_label, vote.value) == ("a", 2.0, "2", 0.5)
    assert (vote.reversed_order, vote.shuffle_order) == (True, list(first.order[::-1]))
    assert vote.judgment.selected_option == vote.shuffle_order.index(1) + 1
    failed = error_vote(second, "parse", "unreadable")
    assert (failed.na, failed.selected_index, failed.reversed_order, failed.error_category) == (
        True,
        None,
        True,
        "parse",
    )
    (polite, _) = judge_calls(POLITE, PANEL, TEXT, PanelConfig())
    assert error_vote(polite, "refusal", "no").verdict is CriterionVerdict.CANNOT_ASSESS
    assert vote_of(polite, CriterionVerdict.MET, "why", None).reason == "why"
