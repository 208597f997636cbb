"""Votes as runs store them."""

import pytest

from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, MultiChoiceJudgment, call_of
from assay.judging.vote_record import call_of_record, stored_votes, vote_from, vote_record

VOTES = [
    JudgeVote(judge_id="a", verdict="MET", reason="It does.", weight=2.0, repeat=1),
    JudgeVote(
        judge_id="a", verdict="CANNOT_ASSESS", error="infrastructure: HTTP 503", reason="HTTP 503", retryable=True
    ),
    MultiChoiceJudgeVote(
        judge_id="b",
        selected_index=0,
        selected_label="poor",
        shuffle_order=(1, 0),
        reversed_order=True,
        judgment=MultiChoiceJudgment(selected_option=2, explanation=""),
    ),
    MultiChoiceJudgeVote(judge_id="b", na=True, error="parse"),
]


@pytest.mark.parametrize("vote", VOTES)
def test_a_vote_survives_being_stored(vote):
    assert vote_from(vote_record(vote)) == vote
    assert call_of_record(vote_record(vote)) == call_of(vote)


def test_votes_stored_under_the_old_name_of_a_field_are_read():
    record = {"judge_id": "a", "selected_index": 1, "selected_label": "fair", "value": 0.5, "backwards": True}
    assert vote_from(record).reversed_order
    assert "backwards" not in vote_record(vote_from(record))


def test_the_votes_of_several_scores_come_in_order_and_scores_without_votes_have_none():
    metadata = [
        {"votes": {"x": [{"judge_id": "a"}], "y": [{"judge_id": "b"}]}},
        {},
        {"votes": {"x": [{"judge_id": "c"}]}},
    ]
    assert [record["judge_id"] for record in stored_votes(metadata)] == ["a", "b", "c"]
