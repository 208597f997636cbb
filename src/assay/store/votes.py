"""Votes of judges: one row per answer or failed attempt, written beside the score that they are part of.

Everywhere above the store a score has its votes in `metadata["votes"]`: criterion -> list of votes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, select

from assay.store.schema import votes
from assay.store.store import insert_many

VOTES = "votes"
"""The entry of a score's metadata that holds its votes."""
Votes = Mapping[str, Sequence[Mapping[str, Any]]]
"""The votes on one sample by criterion."""

_BINARY = "verdict"
"""The entry in which a vote on a binary criterion has its label; others have `selected_label`."""
_COLUMNS = {
    "judge_id",
    "repeat",
    "reversed_order",
    "backwards",
    "selected_index",
    "selected_label",
    "value",
    "reason",
    "error",
    "weight",
}
_WIDTH = len(votes.columns)


def is_votes(entry: object) -> bool:
    """Return whether an entry of a score's metadata consists of votes that rows can store without loss."""
    return (
        isinstance(entry, Mapping)
        and bool(entry)
        and all(
            isinstance(name, str)
            and isinstance(cast, Sequence)
            and bool(cast)
            and all(isinstance(vote, Mapping) and isinstance(vote.get("judge_id"), str) for vote in cast)
            for name, cast in entry.items()
        )
    )


def write_votes(connection: Connection, scores: Iterable[tuple[int, Votes]]) -> None:
    """Write the votes of scores, each under the id of its score."""
    rows = [row for score_id, cast in scores for row in vote_rows(score_id, cast)]
    if rows:
        insert_many(connection, "votes", _WIDTH, rows)


def vote_rows(score_id: int, cast: Votes) -> Iterator[tuple[Any, ...]]:
    """The rows of one score's votes, in order."""
    ordinal = 0
    for criterion, on_criterion in cast.items():
        for vote in on_criterion:
            label = vote.get(_BINARY, vote.get("selected_label"))
            # votes that were written before the field had its name today
            reversed_order = vote.get("reversed_order", vote.get("backwards"))
            yield (
                score_id,
                ordinal,
                criterion,
                vote["judge_id"],
                vote.get("repeat"),
                None if reversed_order is None else int(reversed_order),
                vote.get("selected_index"),
                label,
                vote.get("value"),
                vote.get("reason"),
                vote.get("error"),
                vote.get("weight"),
                None,
                _extra(vote),
            )
            ordinal += 1


def _extra(vote: Mapping[str, Any]) -> str | None:
    """Return what has no column; the presence of an entry identifies a vote on a binary criterion."""
    rest = {name: value for name, value in vote.items() if name not in _COLUMNS and name != _BINARY}
    if _BINARY in vote:
        rest["binary"] = True
    return orjson.dumps(rest, option=orjson.OPT_NON_STR_KEYS).decode() if rest else None


def read_votes(connection: Connection, low: int, high: int) -> dict[int, dict[str, list[dict[str, Any]]]]:
    """The votes of all scores with ids from `low` up to `high`, by the id of the score and by criterion."""
    query = select(votes).where(votes.c.score_id >= low, votes.c.score_id < high)
    cast: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for row in connection.execute(query.order_by(votes.c.score_id, votes.c.ordinal)):
        cast.setdefault(row.score_id, {}).setdefault(row.criterion, []).append(_vote(row))
    return cast


def _vote(row: Any) -> dict[str, Any]:
    """A vote as the score's metadata had it: what it did not state is left out."""
    extra = {} if row.extra is None else orjson.loads(row.extra)
    binary = extra.pop("binary", False)
    vote: dict[str, Any] = {"judge_id": row.judge}
    if binary:
        vote[_BINARY] = row.label
    else:
        vote |= {"selected_index": row.option, "selected_label": row.label, "value": row.value}
    reversed_order = None if row.reversed is None else bool(row.reversed)
    vote |= {"reason": row.reason, "error": row.error, "weight": row.weight}
    vote |= {"reversed_order": reversed_order, "repeat": row.repeat}
    return {name: value for name, value in {**vote, **extra}.items() if value is not None or name in extra}


def has_votes(connection: Connection, low: int, high: int) -> bool:
    """Return whether any score with an id from `low` up to `high` has votes."""
    query = select(votes.c.score_id).where(votes.c.score_id >= low, votes.c.score_id < high).limit(1)
    return connection.execute(query).first() is not None
