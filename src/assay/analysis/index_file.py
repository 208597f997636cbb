"""The file of a derived index: where it is, its tables, and how its columns are written and read.

The index holds nothing that the store does not have. It lies in the user's cache folder and may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.store.runs import RunRecord

VERSION = 2
"""Raised when the form of the file changes: older files are then built anew."""
CHUNK = 1 << 16
"""Rows of one blob: small enough to be read for a page, large enough that a million rows are sixteen reads."""
UNUSED_DAYS = 30
Array = npt.NDArray[Any]

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE chunks (name TEXT, chunk INTEGER, data BLOB NOT NULL, PRIMARY KEY (name, chunk)) WITHOUT ROWID;
CREATE TABLE orders (name TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE ids (row INTEGER PRIMARY KEY, sample_id TEXT NOT NULL);
CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5 (
  body, content = '', detail = 'none', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
);
"""
"""`chunks` has columns of numbers ("n:" before the address), of codes ("c:"), `flags` and `positions`."""


def cache_folder() -> Path:
    """Return the folder of indexes: `assay/view` in the user's cache folder, or a private temporary folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "assay" / "view"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = Path(tempfile.gettempdir()) / f"assay-view-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        # somebody else's folder under our name: its files would be theirs to choose
        return Path(tempfile.mkdtemp(prefix="assay-view-"))
    return folder


def index_path(location: str, record: RunRecord) -> Path:
    """Return the file of a finished run's index; it changes when the run is continued or rescored."""
    # a URL stays as it is; of a path, another folder may have the same
    place = location if "://" in location else str(Path(location).resolve())
    parts = (VERSION, place, record.id, record.identity, record.rows_of, record.status, record.finished_at)
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return cache_folder() / f"{digest[:32]}.db"


def progress_path(path: Path) -> Path:
    """Return the file in which the building process reports the number of rows it has read."""
    return path.with_suffix(".progress")


def remove_unused() -> None:
    """Delete indexes unused for a month, and leftovers of interrupted builds."""
    oldest = time.time() - UNUSED_DAYS * 86_400
    for path in cache_folder().iterdir():
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:
            continue


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that reads a finished index."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        yield connection


def chunks_of(
    connection: sqlite3.Connection, name: str, n: int, *, dtype: str, missing: float = 0
) -> Iterator[tuple[slice, Array]]:
    """Yield a column in pieces with their rows; an unwritten piece holds only `missing`."""
    stored = connection.execute("SELECT chunk, data FROM chunks WHERE name = ? ORDER BY chunk", (name,))
    row = stored.fetchone()
    for number in range(-(-n // CHUNK)):
        rows = slice(number * CHUNK, min(n, (number + 1) * CHUNK))
        if row is not None and row[0] == number:
            yield rows, np.frombuffer(row[1], dtype=dtype)
            row = stored.fetchone()
        else:
            yield rows, np.full(rows.stop - rows.start, missing, dtype=dtype)


def piece_of(connection: sqlite3.Connection, name: str, chunk: int, *, dtype: str) -> Array:
    """One piece of a column that every piece has."""
    stored = connection.execute("SELECT data FROM chunks WHERE name = ? AND chunk = ?", (name, chunk)).fetchone()
    return np.frombuffer(stored[0], dtype=dtype)


def column_of(connection: sqlite3.Connection, name: str, n: int, *, dtype: str, missing: float = 0) -> Array:
    """A whole column."""
    column = np.empty(n, dtype=dtype)
    for rows, values in chunks_of(connection, name, n, dtype=dtype, missing=missing):
        column[rows] = values
    return column
