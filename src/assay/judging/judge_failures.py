"""How often each judge of a panel could not be asked or read, and who is as good as absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.judging.verdicts import Vote

_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Attendance:
    """How many votes of a judge could not be had, of how many, why the last could not, and how many of each kind."""

    failed: int = 0
    asked: int = 0
    why: str = ""
    kinds: Mapping[str, int] = field(default_factory=dict)


def attendance(votes: Iterable[Vote]) -> dict[str, Attendance]:
    """The attendance of every judge, by its id.

    >>> from assay.judging.verdicts import JudgeVote
    >>> attendance([JudgeVote(judge_id="a", verdict="MET")])
    {'a': Attendance(failed=0, asked=1, why='', kinds={})}
    """
    return _counted((vote.judge_id, vote.error, vote.reason) for vote in votes)


def attendance_in(kept: Iterable[Mapping[str, Any]]) -> dict[str, Attendance]:
    """The same from the metadata of scores, which hold the votes as they were kept."""
    documents = (vote for each in kept for cast in each.get("votes", {}).values() for vote in cast)
    return _counted((vote["judge_id"], vote.get("error"), vote.get("reason", "")) for vote in documents)


def _counted(calls: Iterable[tuple[str, str | None, str]]) -> dict[str, Attendance]:
    counts: dict[str, Attendance] = {}
    for judge, error, reason in calls:
        so_far = counts.get(judge, Attendance())
        if error is None:
            counts[judge] = replace(so_far, asked=so_far.asked + 1)
        else:
            kinds = {**so_far.kinds, error: so_far.kinds.get(error, 0) + 1}
            counts[judge] = Attendance(so_far.failed + 1, so_far.asked + 1, reason, kinds)
    return counts


def missing(counts: Mapping[str, Attendance]) -> list[str]:
    """A sentence about every judge of whom votes are missing in a run, be it a single one.

    >>> missing({"a": Attendance(8, 36, "HTTP 503", {"parse": 3, "infrastructure": 5}), "b": Attendance(0, 36)})
    ['judge "a": 8 of 36 votes could not be had (infrastructure 5, parse 3)']
    """
    notes: list[str] = []
    for judge, found in counts.items():
        if found.failed == found.asked:
            notes += absent({judge: found})
        elif found.failed:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(found.kinds.items()))
            notes.append(f'judge "{judge}": {found.failed:,} of {found.asked:,} votes could not be had ({kinds})')
    return notes


def absent(counts: Mapping[str, Attendance]) -> list[str]:
    """A sentence about every judge whose calls mostly failed; one of which all failed is dead."""
    notes: list[str] = []
    for judge, found in counts.items():
        if found.failed == found.asked > 0:
            why = found.why if len(found.why) <= _MOST_SHOWN else f"{found.why[:_MOST_SHOWN]}..."
            notes.append(f'judge "{judge}" is dead: all of its {found.asked:,} calls failed ({why})')
        elif found.failed * 2 > found.asked:
            notes.append(f'judge "{judge}" failed in {found.failed:,} of {found.asked:,} calls; its votes are missing')
    return notes
