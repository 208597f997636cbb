"""Query the derived index of a run: the rows that match a filter, their order, and summaries of its fields."""

from __future__ import annotations

import re
import sqlite3
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import orjson

from assay.analysis.index_file import CHUNK, Array, chunks_of, column_of, piece_of, reading
from assay.analysis.sample_filter import FLAGS, SampleFilter, address_of
from assay.analysis.sample_query import Condition

SEARCH_S = 0.03
"""A search for words that very many samples have stops after so many seconds."""
FEW = 1_500
"""Up to this many rows are looked up individually; with more, the hits of a search are read in order."""
ENDINGS = 100
"""Words with the same beginning that a search covers."""
REMEMBERED = 2
"""The number of cached result lists: those of the pages that people walk through."""


class NotIndexed(Exception):
    """A filter that the index cannot answer: it has no column for a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The rows that match, in their order; `complete` is False where a search was cut short."""

    rows: Array
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The summary of a numeric column, with its histogram."""

    low: float
    high: float
    binary: bool
    n: int
    counts: tuple[int, ...]
    edges: tuple[float, ...]


class SampleIndex:
    """A finished index; it may be asked from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path) as connection:
            meta = {name: orjson.loads(value) for name, value in connection.execute("SELECT name, value FROM meta")}
        self.n: int = meta["n"]
        self.flags: Mapping[str, int] = meta["flags"]
        self.numbers = {
            address: Numbers(**{**entry, "counts": tuple(entry["counts"]), "edges": tuple(entry["edges"])})
            for address, entry in meta["numbers"].items()
        }
        self.facets: Mapping[str, Sequence[tuple[str, int]]] = meta["facets"]
        self.columns: Sequence[str] = meta["columns"]
        self._first: int | None = meta["first"]
        self._lock = Lock()
        self._matches: OrderedDict[SampleFilter, Matches] = OrderedDict()
        path.touch()

    @property
    def addresses(self) -> list[str]:
        """All fields by which samples can be filtered."""
        return list(dict.fromkeys([*self.numbers, *self.facets, *self.columns]))

    def matches(self, which: SampleFilter) -> Matches:
        """Return the rows that a filter lists, in the requested order; raise NotIndexed for an unknown field."""
        with self._lock:
            if which in self._matches:
                self._matches.move_to_end(which)
                return self._matches[which]
        with reading(self.path) as connection:
            matches = self._evaluated(connection, which)
        with self._lock:
            self._matches[which] = matches
            while len(self._matches) > REMEMBERED:
                self._matches.popitem(last=False)
        return matches

    def positions(self, rows: Array) -> list[int]:
        """The positions of some rows in the run."""
        if not len(rows):
            return []
        chosen: list[int] = rows.tolist() if self._first is None else (rows + self._first).tolist()
        if self._first is not None:
            return chosen
        by_row: dict[int, int] = {}
        with reading(self.path) as connection:
            for number in dict.fromkeys(row // CHUNK for row in chosen):
                piece = piece_of(connection, "positions", number, dtype="i8")
                by_row |= {row: int(piece[row % CHUNK]) for row in chosen if row // CHUNK == number}
        return [by_row[row] for row in chosen]

    def row_of(self, position: int) -> int | None:
        """The row at a position of the run."""
        if self._first is not None:
            return position - self._first if self._first <= position < self._first + self.n else None
        with reading(self.path) as connection:
            positions = column_of(connection, "positions", self.n, dtype="i8")
        row = int(np.searchsorted(positions, position))
        return row if row < self.n and positions[row] == position else None

    def find_ids(self, sample_ids: Sequence[str]) -> dict[str, list[int]]:
        """The positions of the samples with some ids; those of several trials come in order."""
        rows: dict[str, list[int]] = {}
        with reading(self.path) as connection:
            for sample_id in sample_ids:
                found = connection.execute("SELECT row FROM ids WHERE sample_id = ? ORDER BY row", (sample_id,))
                rows[sample_id] = [row for (row,) in found]
        return {
            sample_id: self.positions(np.array(of_id, dtype=np.int64)) for sample_id, of_id in rows.items() if of_id
        }

    def _evaluated(self, connection: sqlite3.Connection, which: SampleFilter) -> Matches:
        mask = np.ones(self.n, dtype=bool)
        if which.show is not None:
            for rows, values in chunks_of(connection, "flags", self.n, dtype="u1"):
                mask[rows] &= (values & FLAGS[which.show]) != 0
        if which.kind:
            self._keep_label(connection, mask, "failure/kind", which.kind)
        for address, value in which.facets:
            self._keep_label(connection, mask, address, value)
        for condition in which.where:
            self._keep_condition(connection, mask, condition)
        complete = True
        if which.text.strip():
            hits, complete = _search(connection, which.text, mask)
            searched = np.zeros(self.n, dtype=bool)
            searched[hits] = True
            mask &= searched
        if which.sort is None:
            return Matches(rows=np.flatnonzero(mask).astype(np.int32), complete=complete)
        order = self._order(connection, which.sort)
        return Matches(rows=order[mask[order]], complete=complete)

    def _keep_label(self, connection: sqlite3.Connection, mask: Array, address: str, label: str) -> None:
        labels = [name for name, _ in self.facets.get(address, ())]
        if label not in labels:
            if address in self.addresses and address not in self.facets:
                raise NotIndexed(address)
            mask[:] = False
            return
        code = labels.index(label) + 1
        for rows, codes in chunks_of(connection, f"c:{address}", self.n, dtype="u1"):
            mask[rows] &= codes == code

    def _keep_condition(self, connection: sqlite3.Connection, mask: Array, condition: Condition) -> None:
        address = address_of(condition.field, self.addresses)
        if address is None or address not in {*self.numbers, *self.facets}:
            raise NotIndexed(condition.field)
        accepted = np.zeros(self.n, dtype=bool)
        labels = [name for name, _ in self.facets.get(address, ())]
        lookup = np.array([False, *(condition.accepts(name) for name in labels)])
        if lookup.any() and not self._holds_only_numbers(address):
            for rows, codes in chunks_of(connection, f"c:{address}", self.n, dtype="u1"):
                accepted[rows] = lookup[codes]
        if address in self.numbers:
            for rows, values in chunks_of(connection, f"n:{address}", self.n, dtype="f8", missing=float("nan")):
                # the label of a number is its text: the number itself decides
                accepted[rows] = np.where(np.isnan(values), accepted[rows], _compared(values, condition))
        mask &= accepted

    def _holds_only_numbers(self, address: str) -> bool:
        """Whether every value of a field is a number: its labels then say nothing more."""
        numbers = self.numbers.get(address)
        return numbers is not None and numbers.n == sum(n for _, n in self.facets[address])

    def _order(self, connection: sqlite3.Connection, sort: str) -> Array:
        """Return all rows by ascending number, or with a minus descending; missing ones last."""
        address = address_of(sort.removeprefix("-"), self.addresses)
        stored = connection.execute("SELECT data FROM orders WHERE name = ?", (address,)).fetchone()
        if address is None or stored is None:
            raise NotIndexed(sort)
        order = np.frombuffer(stored[0], dtype=np.int32)
        if not sort.startswith("-"):
            return order
        n = self.numbers[address].n
        return np.concatenate([order[:n][::-1], order[n:]])


def _compared(values: Array, condition: Condition) -> Array:
    """Return which numbers satisfy a condition, by the rule of `Condition.accepts`."""
    if condition.number is None:
        # text against a number: they differ, and nothing more can be said
        return ~np.isnan(values) if condition.operator == "!=" else np.zeros(len(values), dtype=bool)
    number = condition.number
    equal = np.abs(values - number) <= np.maximum(1e-12 * np.maximum(np.abs(values), abs(number)), 1e-12)
    result: Array = {
        "=": equal,
        "!=": ~equal & ~np.isnan(values),
        ">": (values > number) & ~equal,
        ">=": (values > number) | equal,
        "<": (values < number) & ~equal,
        "<=": (values < number) | equal,
    }[condition.operator]
    return result


def _search(connection: sqlite3.Connection, text: str, mask: Array) -> tuple[Any, bool]:
    """Return the rows whose texts contain all words, and whether the list is complete;

    without hits, words match prefixes.
    """
    words = re.findall(r"\w+", text)
    if not words:
        return [], True
    deadline = time.perf_counter() + SEARCH_S
    # every word in quotes: nothing in it is an operator of the search language
    hits, complete = _hits(connection, " ".join(f'"{word}"' for word in words), mask, deadline)
    if hits or not complete:
        return hits, complete
    alternatives = [_beginning_with(connection, word) for word in words]
    if not all(alternatives):
        return [], True
    query = " AND ".join("(" + " OR ".join(f'"{word}"' for word in some) + ")" for some in alternatives)
    hits, complete = _hits(connection, query, mask, time.perf_counter() + SEARCH_S)
    return hits, complete and all(len(some) < ENDINGS for some in alternatives)


def _beginning_with(connection: sqlite3.Connection, word: str) -> list[str]:
    """Words of the run that begin like one, as the text index writes them: small letters without accents."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    start = "".join(letter for letter in plain if not unicodedata.combining(letter))
    sql = "SELECT word FROM words WHERE word >= ? AND word < ? ORDER BY word LIMIT ?"
    return [found for (found,) in connection.execute(sql, (start, start + "\U0010ffff", ENDINGS))]


def _hits(connection: sqlite3.Connection, query: str, mask: Array, deadline: float) -> tuple[list[int], bool]:
    candidates = np.flatnonzero(mask)
    if len(candidates) <= FEW:
        sql = "SELECT rowid FROM texts WHERE texts MATCH ? AND rowid = ?"
        return [row for row in candidates.tolist() if connection.execute(sql, (query, row)).fetchone()], True
    hits: list[int] = []
    cursor = connection.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (query,))
    while batch := cursor.fetchmany(5_000):
        hits += [row for (row,) in batch]
        if time.perf_counter() > deadline:
            return hits, False
    return hits, True
