"""The contents of a store, also of one with an older or newer schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy import text

from assay.store import postgres, schema
from assay.store.postgres import is_postgres
from assay.store.sqlite_file import connect_uri, reading_query, tidy
from assay.store.store import existing_version, explained, no_store, store_path

COUNTED = ("runs", "samples", "calls", "votes")
_Rows = Callable[[str], Sequence[Sequence[Any]]]
"""Runs a query and returns all of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """The counts of a store; a count is None if its schema has no such table."""

    location: str
    size_bytes: int
    schema: str
    state: Literal["up to date", "older", "newer"]
    counts: dict[str, int | None]
    cost_usd: Decimal
    """The price of the stored replies, as far as their prices are known."""
    unpriced_calls: int
    oldest_run: str | None
    newest_run: str | None


def store_info(location: str) -> StoreInfo:
    """Describe a store of any schema without migrating it."""
    with _opened(location) as (place, version, size_bytes, tables, rows):
        counts = {name: int(rows(f"SELECT count(*) FROM {name}")[0][0]) if name in tables else None for name in COUNTED}  # noqa: S608
        cost, unpriced = _cost(rows) if "calls" in tables else (Decimal(0), 0)
        oldest, newest = rows("SELECT min(started_at), max(started_at) FROM runs")[0]
        current = schema.SCHEMA_VERSION
        return StoreInfo(
            location=place,
            size_bytes=size_bytes,
            schema=version,
            state="up to date" if version == current else "older" if version < current else "newer",
            counts=counts,
            cost_usd=cost,
            unpriced_calls=unpriced,
            oldest_run=oldest,
            newest_run=newest,
        )


@contextmanager
def _opened(location: str) -> Iterator[tuple[str, str, int, set[str], _Rows]]:
    """A store of any schema, open for reading: its name, version, size, tables, and how to query it."""
    if is_postgres(location):
        address = postgres.address_of(location)
        engine = postgres.open_engine(address, read_only=True)
        with ExitStack() as stack:
            stack.callback(engine.dispose)
            stack.enter_context(explained(address.shown))
            connection = stack.enter_context(engine.connect())
            version = postgres.stored_version(connection, address)
            if version is None:
                raise no_store(address.shown)

            def rows(query: str) -> Sequence[Sequence[Any]]:
                return connection.execute(text(query)).all()

            query = f"SELECT tablename FROM pg_tables WHERE schemaname = '{address.project}'"  # noqa: S608 - checked
            tables = {str(name) for (name,) in rows(query)}
            yield address.shown, version, postgres.size_bytes(connection, address), tables, rows
        return
    path = store_path(location)
    with explained(location):
        version = existing_version(path)
        parameters = "&".join(f"{name}={value}" for name, value in reading_query(path).items())
        with closing(connect_uri(path, parameters)) as file:
            names = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            yield (
                str(path),
                version,
                path.stat().st_size,
                {name for (name,) in names},
                lambda query: file.execute(query).fetchall(),
            )
        tidy(path)


def _cost(rows: _Rows) -> tuple[Decimal, int]:
    """Add money up as decimals; equal prices are counted by the database."""
    prices = rows("SELECT cost_usd, count(*) FROM calls GROUP BY cost_usd")
    total = sum((Decimal(cost) * n for cost, n in prices if cost is not None), Decimal(0))
    return total, sum(n for cost, n in prices if cost is None)
