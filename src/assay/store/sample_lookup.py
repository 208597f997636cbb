"""Single samples and replies of a run, looked up by position or key: what a page shows, not what a metric reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, select

from assay.store.row_address import STEP, bounds, pack, unpack
from assay.store.sample_rows import BySampleAndSlot, StoredSample
from assay.store.schema import calls, failures, samples, scores
from assay.store.store import Store
from assay.store.votes import has_votes, read_votes
from assay.types import Failure

KEYS_PER_QUERY = 5_000
"""A database takes so many values in one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawCall:
    """One paid request with its reply, as they travelled."""

    key: str
    model: str
    purpose: str
    request: Any
    reply: Any
    prompt_tokens: int
    completion_tokens: int
    cost_usd: str | None
    latency_s: float | None
    created_at: str


def samples_at(
    store: Store, run_no: int, positions: Sequence[int], *, n_scorers: int, votes: bool = True
) -> list[StoredSample]:
    """The samples at some positions, in the order of these; a position without a sample is left out."""
    keys = [pack(run_no, position) for position in positions]
    slotted = [key + slot for key in keys for slot in range(n_scorers + 1)]
    with store.connect() as connection:
        rows = {row.id: row for row in _rows(connection, samples, samples.c.id, keys)}
        score_rows: BySampleAndSlot = {}
        for row in _rows(connection, scores, scores.c.id, slotted):
            score_rows.setdefault(row.id - row.id % STEP, {})[row.id % STEP] = (row._mapping["values"], row.metadata)
        failure_rows: BySampleAndSlot = {}
        for row in _rows(connection, failures, failures.c.id, slotted):
            failure = Failure(stage=row.stage, kind=row.kind, detail=row.detail, retryable=bool(row.retryable))
            failure_rows.setdefault(row.id - row.id % STEP, {})[row.id % STEP] = failure
        cast: BySampleAndSlot = {}
        if votes and has_votes(connection, *bounds(run_no)):
            for key in keys:
                for score_id, ballots in read_votes(connection, key, key + STEP).items():
                    cast.setdefault(key, {})[score_id % STEP] = ballots
    return [
        StoredSample(
            position=unpack(key)[1],
            sample_id=rows[key].sample_id,
            trial=rows[key].trial,
            input=rows[key].input,
            output=rows[key].output,
            trace=rows[key].trace,
            calls=rows[key].calls,
            scores=score_rows.get(key, {}),
            failures=failure_rows.get(key, {}),
            votes=cast.get(key, {}),
        )
        for key in keys
        if key in rows
    ]


def _rows(connection: Connection, table: Any, column: Any, keys: Sequence[Any]) -> Iterator[Any]:
    for start in range(0, len(keys), KEYS_PER_QUERY):
        yield from connection.execute(select(table).where(column.in_(keys[start : start + KEYS_PER_QUERY])))


def positions_after(store: Store, run_no: int, after: int | None, limit: int) -> list[int]:
    """The positions of the next samples behind a position, or of the first ones."""
    low, high = bounds(run_no)
    start = low if after is None else pack(run_no, after) + STEP
    query = select(samples.c.id).where(samples.c.id >= start, samples.c.id < high).order_by(samples.c.id).limit(limit)
    with store.connect() as connection:
        return [unpack(key)[1] for key in connection.execute(query).scalars()]


def positions_of(store: Store, run_no: int, sample_ids: Sequence[str]) -> dict[str, list[int]]:
    """Find the positions of the samples with some ids by scanning the run; the trials of one are in order."""
    low, high = bounds(run_no)
    within = (samples.c.id >= low) & (samples.c.id < high)
    positions: dict[str, list[int]] = {}
    with store.connect() as connection:
        for start in range(0, len(sample_ids), KEYS_PER_QUERY):
            chosen = samples.c.sample_id.in_(sample_ids[start : start + KEYS_PER_QUERY])
            query = select(samples.c.id, samples.c.sample_id).where(within, chosen).order_by(samples.c.id)
            for key, sample_id in connection.execute(query):
                positions.setdefault(sample_id, []).append(unpack(key)[1])
    return positions


def answered_positions(store: Store, run_no: int) -> list[int]:
    """The positions of the samples that have an answer in the first trial, in order."""
    low, high = bounds(run_no)
    answered = (samples.c.id >= low) & (samples.c.id < high) & samples.c.output.is_not(None) & (samples.c.trial == 0)
    with store.connect() as connection:
        keys = connection.execution_options(yield_per=KEYS_PER_QUERY).execute(
            select(samples.c.id).where(answered).order_by(samples.c.id)
        )
        return [unpack(key)[1] for key in keys.scalars()]


def raw_calls(store: Store, keys: Sequence[str]) -> list[RawCall]:
    """The requests and replies with these keys (in hexadecimal), in their order; those that are gone are left out."""
    wanted = [bytes.fromhex(key) for key in dict.fromkeys(keys)]
    with store.connect() as connection:
        rows = {bytes(row.key): row for row in _rows(connection, calls, calls.c.key, wanted)}
    return [
        RawCall(
            key=key.hex(),
            model=rows[key].model,
            purpose=rows[key].purpose,
            request=orjson.loads(rows[key].request),
            reply=orjson.loads(rows[key].reply),
            prompt_tokens=rows[key].prompt_tokens,
            completion_tokens=rows[key].completion_tokens,
            cost_usd=rows[key].cost_usd,
            latency_s=rows[key].latency_s,
            created_at=rows[key].created_at,
        )
        for key in wanted
        if key in rows
    ]
