"""Text columns for both databases: PostgreSQL cannot store the NUL character, so it is escaped there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

_NUL = "\x00"
MARK = "\u2400"
"""The symbol for NUL: rare in texts, and readable for people who inspect the database."""
_ESCAPED = re.compile(f"{MARK}([0{MARK}])")


def escaped(text: str) -> str:
    """Escape a text so that PostgreSQL can store it.

    >>> escaped("a\\x00b") == "a\\u24000b"
    True
    """
    if _NUL not in text and MARK not in text:
        return text
    return text.replace(MARK, MARK + MARK).replace(_NUL, f"{MARK}0")


def unescaped(text: str) -> str:
    """Read a text that `escaped` has written."""
    if MARK not in text:
        return text
    return _ESCAPED.sub(lambda match: _NUL if match[1] == "0" else MARK, text)


def storable_row(row: Sequence[Any]) -> Sequence[Any]:
    """A row whose texts PostgreSQL can hold; nearly always the row itself."""
    for value in row:
        if type(value) is str and (_NUL in value or MARK in value):
            return [escaped(entry) if type(entry) is str else entry for entry in row]
    return row


def readable_rows(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of a PostgreSQL driver with their texts unescaped."""
    return [
        tuple(unescaped(value) if type(value) is str else value for value in row)
        if any(type(value) is str and MARK in value for value in row)
        else row
        for row in rows
    ]


class StoredText(TypeDecorator[str]):
    """A text; escaped in PostgreSQL, unchanged in SQLite."""

    impl = Text
    cache_ok = True

    # these two are asked once per statement: for SQLite no function runs for each value
    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        return _each(escaped) if dialect.name == "postgresql" else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        return _each(unescaped) if dialect.name == "postgresql" else None


def _each(function: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: function(value) if isinstance(value, str) else value
