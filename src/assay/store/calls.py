"""Paid replies, stored under the content that determines them, so that none is paid for twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import orjson
from sqlalchemy import Connection, case, func, select

from assay.errors import StoreUnreachable
from assay.store.runs import now
from assay.store.schema import calls
from assay.store.store import Store, explained, insert_many
from assay.store.stored_text import unescaped
from assay.types import CallPurpose, PaidCall, Reply, Spending, Usage

_MISSING = "usage_missing"


def write_calls(connection: Connection, run_no: int, paid: Sequence[PaidCall]) -> None:
    """Store replies; a repeated one replaces the older."""
    moment = now()
    insert_many(connection, "calls", 11, [call_row(run_no, call, moment) for call in paid], replace=True)


def call_row(run_no: int, call: PaidCall, moment: str) -> tuple[Any, ...]:
    """A reply as the columns of its table."""
    reply = call.reply
    document: dict[str, Any] = {"text": reply.text, "items": reply.items}
    for name in ("refusal", "finish_reason", "reasoning", "logprobs"):
        value = getattr(reply, name)
        if value is not None:
            document[name] = value
    if reply.usage_missing:
        # the last entry, so that it can be counted by how the text ends
        document[_MISSING] = True
    return (
        call.key,
        run_no,
        call.model,
        call.purpose,
        call.request,
        orjson.dumps(document).decode(),
        reply.usage.prompt_tokens,
        reply.usage.completion_tokens,
        None if call.cost_usd is None else str(call.cost_usd),
        reply.latency_s,
        moment,
    )


class CallReader:
    """Looks up replies by key on its own connection, directly through the driver.

    With `only_run`, replies that other runs paid for are not seen. `runs_used` holds the numbers of the runs whose
    replies were read.
    """

    def __init__(self, store: Store, *, only_run: int | None = None) -> None:
        self._store = store
        self._connect()
        mark = "?" if self._connection.dialect.paramstyle == "qmark" else "%s"
        columns = "reply, prompt_tokens, completion_tokens, run_no"
        self._query = f"SELECT {columns} FROM calls WHERE key = {mark}"  # noqa: S608
        self._only_run = only_run
        self.runs_used: set[int] = set()
        if only_run is not None:
            self._query += f" AND run_no = {only_run:d}"

    def keys(self) -> Iterator[bytes]:
        """The keys of all replies that may be seen."""
        query = select(calls.c.key)
        if self._only_run is not None:
            query = query.where(calls.c.run_no == self._only_run)
        with self._store.connect() as connection:
            for (key,) in connection.execution_options(yield_per=5_000).execute(query):
                yield bytes(key)

    def _connect(self) -> None:
        with explained(self._store.location):
            self._connection = self._store.engine.connect()
            if self._store.is_postgres:
                # a transaction that stays open for hours keeps the server from cleaning up
                self._connection.execution_options(isolation_level="AUTOCOMMIT")
            self._cursor = self._connection.connection.cursor()

    def get(self, key: bytes) -> Reply | None:
        """Return the reply stored under this key, at no cost, or None."""
        row = self._row(key)
        if row is None:
            return None
        document = orjson.loads(unescaped(row[0]) if self._store.is_postgres else row[0])
        self.runs_used.add(row[3])
        return Reply(
            text=document["text"],
            refusal=document.get("refusal"),
            items=tuple(document["items"]),
            usage=Usage(prompt_tokens=row[1], completion_tokens=row[2]),
            usage_missing=document.get(_MISSING, False),
            finish_reason=document.get("finish_reason"),
            reasoning=document.get("reasoning"),
            logprobs=document.get("logprobs"),
            cached=True,
            key=key,
        )

    def _row(self, key: bytes) -> Any:
        try:
            with explained(self._store.location):
                self._cursor.execute(self._query, (key,))
                return self._cursor.fetchone()
        except StoreUnreachable:
            # the connection is idle for most of a run: a restart of the database in between does no harm
            self._connection.invalidate()
            self._connection.close()
            self._connect()
            with explained(self._store.location):
                self._cursor.execute(self._query, (key,))
                return self._cursor.fetchone()

    def has_answered(self, model: str) -> bool:
        """Return whether any reply of this model with content is stored."""
        has_text = calls.c.reply.not_like('{"text":null%')
        query = select(calls.c.run_no).where(calls.c.model == model, has_text).limit(1)
        with self._store.connect() as connection:
            return connection.execute(query).first() is not None

    def close(self) -> None:
        self._cursor.close()
        self._connection.close()


def reply_tokens(store: Store, model: str, purpose: CallPurpose) -> float | None:
    """Return the mean length of this model's replies in tokens; None if it was never asked."""
    query = select(func.avg(calls.c.completion_tokens)).where(calls.c.model == model, calls.c.purpose == purpose)
    with store.connect() as connection:
        mean = connection.execute(query).scalar()
    return None if mean is None else float(mean)


def spending(store: Store, run_no: int) -> list[Spending]:
    """Return the spending of a run, by model and purpose."""
    query = (
        select(
            calls.c.model,
            calls.c.purpose,
            func.count(),
            func.sum(calls.c.prompt_tokens),
            func.sum(calls.c.completion_tokens),
            func.count(calls.c.cost_usd),
            func.sum(case((calls.c.reply.like(f'%"{_MISSING}":true}}'), 1), else_=0)),
        )
        .where(calls.c.run_no == run_no)
        .group_by(calls.c.model, calls.c.purpose)
        .order_by(calls.c.model, calls.c.purpose)
    )
    with store.connect() as connection:
        rows = connection.execute(query).all()
        return [
            Spending(
                model=model,
                purpose=purpose,
                n_calls=n,
                usage=Usage(prompt_tokens=int(tokens_in), completion_tokens=int(tokens_out)),
                cost_usd=_total(connection, run_no, model, purpose) if priced == n else None,
                n_usage_missing=int(missing),
            )
            for model, purpose, n, tokens_in, tokens_out, priced, missing in rows
        ]


def _total(connection: Connection, run_no: int, model: str, purpose: str) -> Decimal:
    """Money adds up exactly: as decimals, not in the database's floats."""
    query = (
        select(calls.c.cost_usd, func.count())
        .where(calls.c.run_no == run_no, calls.c.model == model, calls.c.purpose == purpose)
        .group_by(calls.c.cost_usd)
    )
    return sum((Decimal(cost) * n for cost, n in connection.execute(query)), Decimal(0))
