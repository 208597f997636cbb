"""Who of a panel is as good as absent."""

import pytest

from assay.judging.judge_failures import absent, attendance, attendance_in, missing
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote


def _votes(judge, failed, asked, why="HTTP 503"):
    lost = {"verdict": "CANNOT_ASSESS", "error": "infrastructure", "reason": why}
    return [
        JudgeVote(judge_id=judge, **(lost if n < failed else {"verdict": "MET", "reason": "It does."}))
        for n in range(asked)
    ]


@pytest.mark.parametrize(
    ("failed", "asked", "notes"),
    [
        (0, 4, []),
        (2, 4, []),
        (3, 4, ['judge "b" failed in 3 of 4 calls; its votes are missing']),
        (4, 4, ['judge "b" is dead: all of its 4 calls failed (HTTP 503)']),
    ],
)
def test_a_judge_is_named_when_most_of_its_calls_failed_and_is_dead_when_all_did(failed, asked, notes):
    counts = attendance([*_votes("a", 0, asked), *_votes("b", failed, asked)])
    assert (counts["b"].failed, counts["b"].asked) == (failed, asked)
    assert absent(counts) == notes


def test_votes_that_were_kept_count_the_same():
    votes = [*_votes("a", 1, 2), MultiChoiceJudgeVote(judge_id="b", na=True, error="parse", reason="hm")]
    kept = {"votes": {"x": [vote.model_dump(mode="json", exclude_defaults=True) for vote in votes]}}
    assert attendance_in([kept, {}]) == attendance(votes)


def test_a_long_reason_is_cut():
    (note,) = absent(attendance(_votes("b", 1, 1, "x" * 5000)))
    assert len(note) < 300


def test_every_vote_that_could_not_be_had_in_a_run_is_told_with_its_kind():
    unread = JudgeVote(judge_id="b", verdict="CANNOT_ASSESS", error="parse", reason="hm")
    counts = attendance([*_votes("a", 0, 4), *_votes("b", 2, 35), unread, *_votes("c", 2, 2)])
    assert missing(counts) == [
        'judge "b": 3 of 36 votes could not be had (infrastructure 2, parse 1)',
        'judge "c" is dead: all of its 2 calls failed (HTTP 503)',
    ]
    assert missing({}) == []
