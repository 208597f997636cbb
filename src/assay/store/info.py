"""What a store holds, also one of an older or newer schema."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

from assay.store import schema
from assay.store.sqlite_file import connect_uri, reading_query, tidy
from assay.store.store import existing_version, explained, store_path

COUNTED = ("runs", "samples", "calls", "votes")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """A store in numbers; a count is None when the schema of the store has no such table."""

    path: Path
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
    path = store_path(location)
    with explained(location):
        version = existing_version(path)
        query = "&".join(f"{name}={value}" for name, value in reading_query(path).items())
        with closing(connect_uri(path, query)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            counts = {name: _count(connection, name) if name in tables else None for name in COUNTED}
            cost, unpriced = _cost(connection) if "calls" in tables else (Decimal(0), 0)
            oldest, newest = connection.execute("SELECT min(started_at), max(started_at) FROM runs").fetchone()
        tidy(path)
        current = schema.SCHEMA_VERSION
        return StoreInfo(
            path=path,
            size_bytes=path.stat().st_size,
            schema=version,
            state="up to date" if version == current else "older" if version < current else "newer",
            counts=counts,
            cost_usd=cost,
            unpriced_calls=unpriced,
            oldest_run=oldest,
            newest_run=newest,
        )


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a name of ours
    return int(count)


def _cost(connection: sqlite3.Connection) -> tuple[Decimal, int]:
    """Add money up as decimals; equal prices are counted by the database."""
    rows = connection.execute("SELECT cost_usd, count(*) FROM calls GROUP BY cost_usd").fetchall()
    total = sum((Decimal(cost) * n for cost, n in rows if cost is not None), Decimal(0))
    return total, sum(n for cost, n in rows if cost is None)
