"""Missing votes, and judges whose calls failed."""

import pytest

from assay.judging.judge_failures import count_votes, failure_notes, missing_notes
from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote
from assay.judging.vote_record import stored_votes, vote_record


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
        (3, 4, ['3 of 4 calls to judge "b" failed; its votes are missing']),
        (4, 4, ['all 4 calls to judge "b" failed (HTTP 503)']),
    ],
)
def test_a_judge_is_named_when_most_of_its_calls_failed_with_the_reason_when_all_did(failed, asked, notes):
    counts = count_votes([*_votes("a", 0, asked), *_votes("b", failed, asked)])
    assert (counts["b"].missing, counts["b"].asked) == (failed, asked)
    assert failure_notes(counts) == notes


def test_votes_that_were_kept_count_the_same():
    votes = [*_votes("a", 1, 2), MultiChoiceJudgeVote(judge_id="b", na=True, error="parse", reason="hm")]
    metadata = {"votes": {"x": [vote_record(vote) for vote in votes]}}
    assert count_votes(stored_votes([metadata, {}])) == count_votes(votes)


def test_a_long_reason_is_cut():
    (note,) = failure_notes(count_votes(_votes("b", 1, 1, "x" * 5000)))
    assert len(note) < 300


def test_every_missing_vote_of_a_run_is_counted_with_its_kind():
    unread = JudgeVote(judge_id="b", verdict="CANNOT_ASSESS", error="parse", reason="hm")
    counts = count_votes([*_votes("a", 0, 4), *_votes("b", 2, 35), unread, *_votes("c", 2, 2)])
    assert missing_notes(counts) == [
        'judge "b": 3 of 36 votes are missing (infrastructure 2, parse 1)',
        'all 2 calls to judge "c" failed (HTTP 503)',
    ]
    assert missing_notes({}) == []
