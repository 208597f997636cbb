"""Build the derived index of a run: one pass over its stored rows, then the sort orders of its numbers.

Nothing is written but the index. Memory stays bounded: columns are written in pieces, texts row by row.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from assay.analysis.index_file import CHUNK, TABLES, column_of, progress_path, remove_unused
from assay.analysis.sample_filter import (
    COLUMN,
    DIVIDED,
    FLAGS,
    disagreement,
    score_flags,
    searched_text,
    value_text,
)
from assay.interop.numbers import as_number
from assay.store.decoder import sample_from
from assay.store.runs import RunRecord
from assay.store.sample_rows import StoredSample, stored_samples
from assay.store.store import Store
from assay.summary.actions import excluded

DISTINCT = 50
"""A field with at most so many values can be chosen from a list."""
LONGEST_LABEL = 80
NUMBERS = 400
"""The maximum number of numeric columns; a run with more has its first ones."""
MEMO_SIZE = 10_000
BATCH = 5_000
BINS = 20
KIND = "failure/kind"
TRIAL = "trial"


def build_index(store: Store, record: RunRecord, path: Path) -> None:
    """Write the index of a finished run; it appears under its name only when it is complete."""
    scratch = path.with_suffix(f".building-{os.getpid()}")
    progress = progress_path(path)
    try:
        scratch.unlink(missing_ok=True)
        with closing(sqlite3.connect(scratch)) as connection:
            os.chmod(scratch, 0o600)  # noqa: PTH101 - the samples are for this user alone
            # a build that is cut short is thrown away: nothing has to survive a crash
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLES}")
            # fewer, larger pieces of the text index: less work, for 16 MB while it is built
            connection.execute("INSERT INTO texts (texts, rank) VALUES ('hashsize', 16777216)")
            _Build(connection, store, record).run(lambda n: progress.write_text(str(n), encoding="ascii"))
            connection.commit()
        scratch.replace(path)
        remove_unused()
    finally:
        scratch.unlink(missing_ok=True)
        progress.unlink(missing_ok=True)


Fields = Sequence[tuple[str, float | None, str | None]]
"""The address, index and label of every field of a score or of the columns of a sample."""


class _Build:
    """The columns of a run while its rows are read."""

    def __init__(self, connection: sqlite3.Connection, store: Store, record: RunRecord) -> None:
        self._connection = connection
        self._store = store
        self._record = record
        self._keys = record.spec.scorer_keys
        self._memo: dict[tuple[int, str, str | None], tuple[Fields, int]] = {}
        self._codes: dict[str, dict[str, int]] = {}
        self._counts: dict[str, Any] = {}
        self._flagged: dict[str, int] = {}
        self._dropped: set[str] = set()
        self._numbers: dict[str, Any] = {}
        self._labels: dict[str, Any] = {}
        self._numeric: dict[str, None] = {}
        self._columns: dict[str, None] = {}
        self._flags = np.zeros(CHUNK, dtype=np.uint8)
        self._positions = np.zeros(CHUNK, dtype=np.int64)
        self._first: int | None = None
        self._last = 0

    def run(self, on_progress: Callable[[int], object]) -> None:
        """Read every row and write the whole index."""
        spec = self._record.spec
        without = excluded(spec.actions, self._keys, self._store, self._record.rows_of).positions
        n = 0
        for batch in _batches(stored_samples(self._store, self._record.rows_of)):
            texts, ids = [], []
            for stored in batch:
                place = n % CHUNK
                columns = orjson.loads(stored.input)
                self._flags[place] = self._row(place, stored, columns)
                if stored.position in without:
                    self._flags[place] |= FLAGS["excluded"]
                self._positions[place] = stored.position
                if self._first is None:
                    self._first = stored.position
                self._last = stored.position
                texts.append((n, searched_text(stored.sample_id, columns, stored.output)))
                ids.append((n, stored.sample_id))
                n += 1
                if n % CHUNK == 0:
                    self._flush(n // CHUNK - 1, CHUNK)
            self._connection.executemany("INSERT INTO texts (rowid, body) VALUES (?, ?)", texts)
            self._connection.executemany("INSERT INTO ids VALUES (?, ?)", ids)
            on_progress(n)
        if n % CHUNK:
            self._flush(n // CHUNK, n % CHUNK)
        self._connection.execute("CREATE INDEX by_id ON ids (sample_id)")
        # the words by themselves: the text index would merge the hits of all words with a beginning before the first
        self._connection.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, texts, row)")
        self._connection.execute("INSERT INTO words SELECT term FROM temp.terms")
        self._finish(n)

    def _row(self, place: int, stored: StoredSample, columns: Mapping[str, Any]) -> int:
        """Take one row into the columns and return its properties."""
        flags = FLAGS["answered"] if stored.output is not None else 0
        if stored.failures:
            flags |= FLAGS["failed"]
            first = stored.failures[min(stored.failures)]
            self._label(place, KIND, first.kind)
        if stored.calls is not None and '"cut":true' in stored.calls:
            flags |= FLAGS["cut"]
        if stored.votes:
            fields, of_scores = self._with_votes(stored)
            flags |= of_scores
            self._take(place, fields)
        else:
            for slot, (values, metadata) in stored.scores.items():
                known = self._memo.get((slot, values, metadata))
                fields, of_score = known or self._read(slot, values, metadata)
                flags |= of_score
                self._take(place, fields)
        if self._record.spec.num_trials > 1:
            self._label(place, TRIAL, str(stored.trial))
        self._take_columns(place, columns)
        return flags

    def _take_columns(self, place: int, columns: Mapping[str, Any]) -> None:
        for name, value in columns.items():
            address = f"{COLUMN}/{name}"
            if address not in self._columns:
                self._columns[address] = None
            if isinstance(value, str):
                if address not in self._dropped:
                    self._label(place, address, value)
            elif value is not None:
                self._take(place, [(address, as_number(value), value_text(value))])

    def _read(self, slot: int, values: str, metadata: str | None) -> tuple[Fields, int]:
        """The fields and properties of a score; those that look alike are read once."""
        key = self._keys[slot - 1]
        read: Mapping[str, Any] = orjson.loads(values)
        details: Mapping[str, Any] = {} if metadata is None else orjson.loads(metadata)
        result = self._fields(key, read, details), score_flags(self._record.spec, key, read, details)
        if len(self._memo) >= MEMO_SIZE:
            self._memo.clear()
        self._memo[slot, values, metadata] = result
        return result

    def _fields(self, key: str, values: Mapping[str, Any], metadata: Mapping[str, Any]) -> Fields:
        fields = [
            (f"{key}/{name}", as_number(value), value_text(value))
            for name, value in {**metadata, **values}.items()
            if isinstance(value, str | int | float)
        ]
        share = disagreement(metadata)
        return fields if share is None else [*fields, (DIVIDED, share, None)]

    def _with_votes(self, stored: StoredSample) -> tuple[Fields, int]:
        sample = sample_from(stored, self._keys)
        fields: list[tuple[str, float | None, str | None]] = []
        flags, shares = 0, []
        for key, score in sample.scores.items():
            flags |= score_flags(self._record.spec, key, score.values, score.metadata)
            for address, value, label in self._fields(key, score.values, score.metadata):
                if address == DIVIDED:
                    shares.append(value or 0.0)
                else:
                    fields.append((address, value, label))
        return ([*fields, (DIVIDED, max(shares), None)] if shares else fields), flags

    def _take(self, place: int, fields: Fields) -> None:
        for address, value, label in fields:
            if value is not None and (address in self._numeric or len(self._numeric) < NUMBERS):
                column = self._numbers.get(address)
                if column is None:
                    self._numeric[address] = None
                    column = self._numbers[address] = np.full(CHUNK, np.nan)
                column[place] = value
            if label is not None and address not in self._dropped:
                self._label(place, address, label)

    def _label(self, place: int, address: str, label: str) -> None:
        codes = self._codes.setdefault(address, {})
        code = codes.get(label)
        if code is None:
            if len(codes) >= DISTINCT or len(label) > LONGEST_LABEL:
                self._dropped.add(address)
                self._codes.pop(address)
                self._labels.pop(address, None)
                return
            code = codes[label] = len(codes) + 1
        column = self._labels.get(address)
        if column is None:
            column = self._labels[address] = np.zeros(CHUNK, dtype=np.uint8)
        column[place] = code

    def _flush(self, chunk: int, size: int) -> None:
        """Write the current piece of every column."""
        rows = [
            ("flags", chunk, self._flags[:size].tobytes()),
            ("positions", chunk, self._positions[:size].tobytes()),
        ]
        for address, column in self._numbers.items():
            rows.append((f"n:{address}", chunk, column[:size].tobytes()))
        for address, column in self._labels.items():
            rows.append((f"c:{address}", chunk, column[:size].tobytes()))
            counts = np.bincount(column[:size], minlength=DISTINCT + 1)
            self._counts[address] = self._counts.get(address, 0) + counts
        self._connection.executemany("INSERT INTO chunks VALUES (?, ?, ?)", rows)
        flags = self._flags[:size]
        for name, bit in FLAGS.items():
            self._flagged[name] = self._flagged.get(name, 0) + int(np.count_nonzero(flags & bit))
        self._numbers.clear()
        self._labels.clear()

    def _finish(self, n: int) -> None:
        """Write the sort orders of all numbers, and the summaries of columns that pages show."""
        for address in self._dropped:
            self._connection.execute("DELETE FROM chunks WHERE name = ?", (f"c:{address}",))
        ranges = {}
        for address in self._numeric:
            values = column_of(self._connection, f"n:{address}", n, dtype="f8", missing=float("nan"))
            finite = values[np.isfinite(values)]
            if not finite.size:
                continue
            low, high = float(finite.min()), float(finite.max())
            counts, edges = np.histogram(finite, bins=BINS, range=(low, high) if high > low else (low, low + 1))
            ranges[address] = {
                "low": low,
                "high": high,
                "binary": bool(np.isin(finite, (0.0, 1.0)).all()),
                "n": int(finite.size),
                "counts": counts.tolist(),
                "edges": edges.tolist(),
            }
            # missing numbers come last, equal ones in the order of the samples
            order = np.argsort(values, kind="stable").astype(np.int32)
            self._connection.execute("INSERT INTO orders VALUES (?, ?)", (address, order.tobytes()))
        facets = {
            address: [[label, int(self._counts[address][code])] for label, code in codes.items()]
            for address, codes in self._codes.items()
            if address in self._counts
        }
        meta = {
            "n": n,
            "flags": {name: self._flagged.get(name, 0) for name in FLAGS},
            "numbers": ranges,
            "facets": facets,
            "columns": list(self._columns),
            # where rows follow one another without a gap, a position needs no look at the column
            "first": self._first if self._first is not None and self._last - self._first == n - 1 else None,
        }
        self._connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [(name, orjson.dumps(value, default=str).decode()) for name, value in meta.items()],
        )


def _batches(rows: Iterator[StoredSample]) -> Iterator[list[StoredSample]]:
    batch: list[StoredSample] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
