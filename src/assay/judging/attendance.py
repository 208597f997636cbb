"""How often each judge of a panel could not be asked or read, and who is as good as absent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.judging.verdicts import Vote

_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Attendance:
    """How many calls of a judge failed, of how many, and why the last of them did."""

    failed: int = 0
    asked: int = 0
    why: str = ""


def attendance(votes: Iterable[Vote]) -> dict[str, Attendance]:
    """The attendance of every judge, by its id.

    >>> from assay.judging.verdicts import JudgeVote
    >>> attendance([JudgeVote(judge_id="a", verdict="MET")])
    {'a': Attendance(failed=0, asked=1, why='')}
    """
    return _counted((vote.judge_id, vote.is_error, vote.reason) for vote in votes)


def attendance_in(kept: Iterable[Mapping[str, Any]]) -> dict[str, Attendance]:
    """The same from the metadata of scores, which hold the votes as they were kept."""
    documents = (vote for each in kept for cast in each.get("votes", {}).values() for vote in cast)
    return _counted((vote["judge_id"], "error" in vote, vote.get("reason", "")) for vote in documents)


def _counted(calls: Iterable[tuple[str, bool, str]]) -> dict[str, Attendance]:
    counts: dict[str, Attendance] = {}
    for judge, failed, reason in calls:
        so_far = counts.get(judge, Attendance())
        counts[judge] = Attendance(so_far.failed + failed, so_far.asked + 1, reason if failed else so_far.why)
    return counts


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
