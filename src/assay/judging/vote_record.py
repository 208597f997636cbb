"""The stored form of a vote in the metadata of a score, and its reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.judging.verdicts import JudgeVote, MultiChoiceJudgeVote, Vote

VoteRecord = Mapping[str, Any]
"""The fields of a vote that differ from their defaults. Only votes on criteria without options have a `verdict`."""


def vote_record(vote: Vote) -> VoteRecord:
    """The vote as a run stores it.

    >>> vote_record(JudgeVote(judge_id="a", verdict="MET"))
    {'judge_id': 'a', 'verdict': 'MET'}
    """
    record = vote.model_dump(mode="json", exclude_defaults=True)
    if vote.error is not None and vote.error == f"{vote.error_category}: {vote.reason}":
        record["error"] = vote.error_category
    return record


def vote_from(record: VoteRecord) -> Vote:
    """The vote that a run stored, under whatever names its fields had then.

    >>> vote_from({"judge_id": "a", "selected_index": 1, "backwards": True}).reversed_order
    True
    """
    judgment = record.get("judgment")
    if judgment is not None:
        record = {**record, "judgment": {"explanation": "", **judgment}}
    vote: Vote = (JudgeVote if "verdict" in record else MultiChoiceJudgeVote).model_validate(record, strict=False)
    if vote.error is not None and vote.error == vote.error_category and vote.reason:
        # a store keeps the category and the cause apart
        return vote.model_copy(update={"error": f"{vote.error}: {vote.reason}"})
    return vote


def call_of_record(record: VoteRecord) -> tuple[int, bool]:
    """Return which call a stored vote answers, as `call_of` does for a vote; a judge's first call sorts first.

    >>> call_of_record({"judge_id": "a", "selected_index": 1, "backwards": True})
    (0, True)
    """
    return int(record.get("repeat", 0)), bool(record.get("reversed_order", record.get("backwards", False)))


def stored_votes(metadata: Iterable[Mapping[str, Any]]) -> Iterator[VoteRecord]:
    """Every vote in the metadata of some scores, criterion by criterion."""
    for entry in metadata:
        for records in entry.get("votes", {}).values():
            yield from records
