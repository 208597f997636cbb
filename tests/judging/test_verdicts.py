"""Verdicts as judges and people write them."""

from __future__ import annotations

import pytest

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.verdicts import (
    JudgeVote,
    MultiChoiceJudgeVote,
    MultiChoiceVerdict,
    abstained,
    is_abstention,
    read_verdict,
)

BINARY = Criterion(requirement="r")


@pytest.mark.parametrize("written", ["MET", " met ", CriterionVerdict.MET])
def test_a_binary_verdict_is_read_in_any_case(written):
    assert read_verdict(BINARY, written) is CriterionVerdict.MET


def test_a_label_is_read_in_any_case(scale):
    criterion = scale([0.0, 1.0, None], labels=["Too few", "Just right", "NA"])
    assert read_verdict(criterion, "just RIGHT ").selected_index == 1
    assert is_abstention(read_verdict(criterion, "na"))
    assert read_verdict(criterion, CriterionVerdict.CANNOT_ASSESS).selected_index == 2
    by_label = read_verdict(criterion, MultiChoiceVerdict(selected_label="Just right", value=1.0))
    assert (by_label.selected_index, by_label.value) == (1, 1.0)
    assert is_abstention(read_verdict(criterion, MultiChoiceVerdict(value=0.0)))


def test_what_is_no_verdict_is_an_error(scale):
    criterion = scale([0.0, 1.0])
    for given, message in (
        ("3", "not one of the labels"),
        (1, "expected the label"),
        (CriterionVerdict.MET, "got MET"),
        (MultiChoiceVerdict(selected_index=7, value=0.0), "there is no option 7"),
    ):
        with pytest.raises(ValueError, match=message):
            read_verdict(criterion, given)
    for given in ("yes", 1, None):
        with pytest.raises(ValueError, match="expected MET, UNMET or CANNOT_ASSESS"):
            read_verdict(BINARY, given)


def test_an_abstention_picks_the_na_option_or_none(scale):
    assert abstained(BINARY) is CriterionVerdict.CANNOT_ASSESS
    assert abstained(scale([0.0, 1.0])).selected_index is None
    picked = abstained(scale([0.0, 1.0, None]))
    assert (picked.selected_index, picked.na, picked.value) == (2, True, 0.0)


def test_a_vote_says_whether_it_is_an_error_and_weighs_something():
    assert JudgeVote(judge_id="a", verdict="CANNOT_ASSESS", error="parse").is_error
    assert not MultiChoiceJudgeVote(judge_id="a", selected_index=1).is_error
    with pytest.raises(ValueError, match="greater than 0"):
        JudgeVote(judge_id="a", verdict="MET", weight=0.0)
