"""The only writer of a run: samples, scores, votes, failures and replies in groups, one transaction each."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import orjson
from sqlalchemy import Connection

from assay.errors import RejectedValue
from assay.models import logs
from assay.runner.scoring import Scored, Solved, without
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.calls import write_calls
from assay.store.row_address import pack
from assay.store.row_encoder import RowEncoder
from assay.store.store import Store
from assay.store.votes import VOTES, Votes, is_votes, write_votes
from assay.types import Failure, PaidCall, Reply, Rows, ScoreColumns

UNSTORABLE = (RejectedValue, TypeError, RecursionError)
"""The errors raised by a value that cannot be stored, in the encoder or the database."""
GROUP_ROWS = 500
GROUP_S = 0.05


class RunWriter:
    """Writes the rows of one run; what its methods have returned from is durable."""

    def __init__(self, store: Store, run_no: int) -> None:
        self._store = store
        self._run_no = run_no
        self._encoders: dict[int, tuple[RowEncoder, RowEncoder]] = {}

    def write(self, solved: Solved, scored: Scored, *, cursor: int, paid: Sequence[PaidCall] = ()) -> int:
        """Commit a batch with its scores and paid replies; return its number of failures."""

        def commit(connection: Connection) -> None:
            if paid:
                write_calls(connection, self._run_no, paid)
            self._write_samples(connection, solved, scored)
            runs.advance(connection, self._run_no, cursor)

        positions = solved.rows.positions
        started = time.perf_counter()
        try:
            self._store.commit(commit, is_done=lambda connection: self._holds(connection, positions))
            failed = _count_failures(solved, scored)
        except UNSTORABLE:
            failed = self._write_one_by_one(solved, scored, cursor=cursor, paid=paid)
        if logs.is_on(logs.WARNING):
            _log_commit(solved, scored, len(paid), time.perf_counter() - started)
        return failed

    def _holds(self, connection: Connection, positions: Sequence[int]) -> bool:
        """Return whether a batch was committed; writing replies again is harmless."""
        return len(positions) > 0 and evidence.has_sample(connection, self._run_no, positions[0])

    def _write_one_by_one(self, solved: Solved, scored: Scored, *, cursor: int, paid: Sequence[PaidCall]) -> int:
        """Commit a batch that the store rejected as a whole, row by row, so that only rejected values fail."""
        for call in paid:
            self._write_reply(call)
        failed = 0
        for place in range(len(solved.rows)):
            row, scores = _storable(solved.only(place), _scores_of(solved, scored, place), self._rejection)
            with self._store.begin() as connection:
                self._write_samples(connection, row, scores)
            failed += _count_failures(row, scores)
        with self._store.begin() as connection:
            runs.advance(connection, self._run_no, cursor)
        return failed

    def _write_reply(self, call: PaidCall) -> None:
        """Commit a reply; of one that the store rejects, keep what it cost, so that it is not paid for again."""
        try:
            with self._store.begin() as connection:
                write_calls(connection, self._run_no, [call])
        except UNSTORABLE as error:
            reply = Reply(text=None, usage=call.reply.usage, finish_reason=f"it could not be stored: {error}")
            with self._store.begin() as connection:
                write_calls(connection, self._run_no, [replace(call, reply=reply)])
            print(f"a reply of {call.model} is kept without its text: {error}", file=sys.stderr)

    def _rejection(self, solved: Solved, scored: Scored) -> str | None:
        """Return why the store rejects these rows, None if it accepts them. Nothing is written in either case."""
        try:
            # a connection that is closed without a commit writes nothing
            with self._store.connect() as connection:
                self._write_samples(connection, solved, scored)
        except UNSTORABLE as error:
            return str(error)
        return None

    def _write_samples(self, connection: Connection, solved: Solved, scored: Scored) -> None:
        rows = solved.rows
        evidence.write_samples(connection, self._run_no, _sample_columns(solved))
        failed = [(rows.positions[place], failure) for place, failure in solved.failures.items()]
        evidence.write_failures(connection, self._run_no, 0, failed)
        for slot, columns in scored.items():
            self._write(connection, slot, solved.answered, columns)

    def write_scores(self, rows: Rows, scored: Scored) -> None:
        """Commit scores of rows whose samples are stored already."""
        with self._store.begin() as connection:
            for slot, columns in scored.items():
                self._write(connection, slot, rows, columns)

    def write_replies(self, paid: Sequence[PaidCall]) -> None:
        """Commit replies that belong to no sample."""
        with self._store.begin() as connection:
            write_calls(connection, self._run_no, paid)

    def _write(self, connection: Connection, slot: int, rows: Rows, columns: ScoreColumns) -> None:
        scored = without(rows, columns.failures)
        columns, cast = _without_votes(columns, rows.positions)
        values, metadata = self._encode(slot, columns, len(rows))
        evidence.write_scores(connection, self._run_no, slot, scored.positions, values, metadata)
        write_votes(connection, ((pack(self._run_no, position, slot), votes) for position, votes in cast))
        lost = [(rows.positions[place], failure) for place, failure in columns.failures.items()]
        evidence.write_failures(connection, self._run_no, slot, lost)
        unsettled = [rows.positions[place] for place in sorted(columns.unsettled)]
        evidence.write_unsettled(connection, self._run_no, slot, unsettled)

    def _encode(self, slot: int, columns: ScoreColumns, n: int) -> tuple[list[str], list[str]]:
        for_values, for_metadata = self._encoders.setdefault(slot, (RowEncoder(), RowEncoder()))
        values = for_values.encode(columns.values, n)
        metadata = for_metadata.encode(columns.metadata, n)
        if not columns.failures:
            return values, metadata
        keep = [place for place in range(n) if place not in columns.failures]
        return [values[place] for place in keep], [metadata[place] for place in keep]


def _log_commit(solved: Solved, scored: Scored, n_replies: int, duration_s: float) -> None:
    """Log what became of a batch: one event per failure, and one for the whole."""
    n = len(solved.rows)
    logs.event(logs.DEBUG, "commit", samples=n, replies=n_replies, duration_s=round(duration_s, 6))
    trials = dict(zip(solved.rows.positions, solved.trials or (0,) * n, strict=True))
    parts = [(solved.rows, 0, solved.failures)]
    parts += [(solved.answered, slot, columns.failures) for slot, columns in scored.items()]
    for rows, slot, failures in parts:
        for place, failure in failures.items():
            logs.event(
                logs.WARNING,
                "failure",
                sample=rows.ids[place],
                trial=trials[rows.positions[place]],
                scorer=slot or None,
                stage=failure.stage,
                failure=failure.kind,
                detail=failure.detail,
            )


def _count_failures(solved: Solved, scored: Scored) -> int:
    return len(solved.failures) + sum(len(columns.failures) for columns in scored.values())


def _scores_of(solved: Solved, scored: Scored, place: int) -> Scored:
    """The scores of one row of a batch; a row without an answer has none."""
    if place in solved.failures:
        return {}
    # scorers saw only the rows with an answer
    among = place - sum(1 for failed in solved.failures if failed < place)
    return {slot: columns.only(among) for slot, columns in scored.items()}


def _storable(row: Solved, scores: Scored, rejection: Callable[[Solved, Scored], str | None]) -> tuple[Solved, Scored]:
    """Replace the parts of a row that the store rejects by failures."""
    reason = rejection(row, {})
    if reason is not None:
        bare = replace(row.rows, answers=None, traces=None)
        return replace(row, rows=bare, failures={0: Failure(stage="solve", kind="store", detail=reason)}), {}
    storable = {}
    for slot, columns in scores.items():
        reason = rejection(row, {slot: columns})
        if reason is not None:
            failure = Failure(stage="score", kind="store", detail=reason)
            columns = ScoreColumns(values={}, failures={0: failure})
        storable[slot] = columns
    return row, storable


def _without_votes(columns: ScoreColumns, positions: Sequence[int]) -> tuple[ScoreColumns, list[tuple[int, Votes]]]:
    """Separate the votes that have their own rows from the columns, by position."""
    if VOTES not in columns.metadata:
        return columns, []
    column = columns.metadata[VOTES]
    moved = [is_votes(votes) and place not in columns.failures for place, votes in enumerate(column)]
    cast = [(positions[place], votes) for place, votes in enumerate(column) if moved[place]]
    left = [None if moved[place] else votes for place, votes in enumerate(column)]
    return replace(columns, metadata={**columns.metadata, VOTES: left}), cast


def _sample_columns(solved: Solved) -> evidence.SampleColumns:
    rows = solved.rows
    n = len(rows)
    outputs: Sequence[str | None] = [None] * n if rows.answers is None else rows.answers
    if solved.failures:
        outputs = [None if place in solved.failures else text for place, text in enumerate(outputs)]
    traces: Sequence[str | None] = [None] * n
    if rows.traces is not None:
        traces = [orjson.dumps(trace.items).decode() if trace.items else None for trace in rows.traces]
    return evidence.SampleColumns(
        positions=rows.positions,
        ids=rows.ids,
        trials=[0] * n if solved.trials is None else solved.trials,
        inputs=solved.inputs,
        outputs=outputs,
        traces=traces,
        calls=[None] * n if solved.calls is None else solved.calls,
    )


class GroupCommit:
    """Calls `commit` every 50 ms, or as soon as it is woken, until it is closed: one fsync pays for a whole group.

    `commit` must leave nothing behind that was finished when it was called.
    """

    def __init__(self, commit: Callable[[], Awaitable[None]]) -> None:
        self._commit = commit
        self._alarm: asyncio.Future[None] | None = None
        self._over = False
        # set while the disk keeps up: workers wait for it rather than pile up answers
        self._room = asyncio.Event()
        self._room.set()

    async def run(self) -> None:
        """Commit in groups until closed, and what is left then."""
        loop = asyncio.get_running_loop()
        while not self._over:
            self._alarm = loop.create_future()
            timer = loop.call_later(GROUP_S, self.wake)
            await self._alarm
            timer.cancel()
            await self._commit_now()
        # what was finished while the last group was on its way to the disk
        await self._commit_now()

    async def _commit_now(self) -> None:
        self._room.clear()
        await self._commit()
        self._room.set()

    def wake(self) -> None:
        """Commit now rather than at the end of the 50 ms."""
        if self._alarm is not None and not self._alarm.done():
            self._alarm.set_result(None)

    async def push(self) -> None:
        """Request a commit, and pause while one is running, so that producers wait for the disk."""
        self.wake()
        await self._room.wait()

    def close(self) -> None:
        """Let `run` end after one more commit."""
        self._over = True
        self.wake()
