"""Missing votes per judge, and messages about judges whose calls failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, Vote
from assay.judging.vote_record import VoteRecord

_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class VoteCount:
    """The number of missing votes of a judge, out of how many, the last cause, and the count per cause."""

    missing: int = 0
    asked: int = 0
    why: str = ""
    kinds: Mapping[str, int] = field(default_factory=dict)


def count_votes(votes: Iterable[Vote | VoteRecord]) -> dict[str, VoteCount]:
    """The votes of every judge, by its id; a vote counts the same before and after it was stored.

    >>> count_votes([JudgeVote(judge_id="a", verdict="MET")])
    {'a': VoteCount(missing=0, asked=1, why='', kinds={})}
    """
    counts: dict[str, VoteCount] = {}
    for vote in votes:
        if isinstance(vote, JudgeVote | MultiChoiceJudgeVote):
            judge, error, reason = vote.judge_id, vote.error_category, vote.reason or ""
        else:
            judge, error, reason = vote["judge_id"], vote.get("error"), vote.get("reason", "")
        count = counts.get(judge, VoteCount())
        if error is None:
            counts[judge] = replace(count, asked=count.asked + 1)
        else:
            kinds = {**count.kinds, error: count.kinds.get(error, 0) + 1}
            counts[judge] = VoteCount(count.missing + 1, count.asked + 1, reason, kinds)
    return counts


def missing_notes(counts: Mapping[str, VoteCount]) -> list[str]:
    """A sentence about every judge of whom votes are missing in a run, be it a single one.

    >>> missing_notes({"a": VoteCount(8, 36, "HTTP 503", {"parse": 3, "infrastructure": 5}), "b": VoteCount(0, 36)})
    ['judge "a": 8 of 36 votes are missing (infrastructure 5, parse 3)']
    """
    notes: list[str] = []
    for judge, count in counts.items():
        if count.missing == count.asked:
            notes += failure_notes({judge: count})
        elif count.missing:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(count.kinds.items()))
            notes.append(f'judge "{judge}": {count.missing:,} of {count.asked:,} votes are missing ({kinds})')
    return notes


def failure_notes(counts: Mapping[str, VoteCount]) -> list[str]:
    """A sentence about every judge most of whose calls failed, with the reason if all did."""
    notes: list[str] = []
    for judge, count in counts.items():
        if count.missing == count.asked > 0:
            reason = count.why if len(count.why) <= _MOST_SHOWN else f"{count.why[:_MOST_SHOWN]}..."
            calls = "the only call" if count.asked == 1 else f"all {count.asked:,} calls"
            notes.append(f'{calls} to judge "{judge}" failed ({reason})')
        elif count.missing * 2 > count.asked:
            calls = f"{count.missing:,} of {count.asked:,} calls"
            notes.append(f'{calls} to judge "{judge}" failed; its votes are missing')
    return notes
