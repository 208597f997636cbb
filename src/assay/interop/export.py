"""Samples, answers and scores of a run as a file for other tools."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from assay.errors import MissingExtra, SpecError
from assay.interop.flat import flat_rows
from assay.results.document import sample_document
from assay.store.decoder import read_samples
from assay.store.runs import RunRecord
from assay.store.store import Store

FORMULA = ("=", "+", "-", "@", "\t", "\r")
PARQUET_ROWS = 10_000


def export(store: Store, record: RunRecord, path: Path, *, force: bool = False) -> int:
    """Write every sample of a run to a file whose ending says the format; gives the number of samples.

    The file appears when it is whole: an error leaves what was there before. One that is there already is
    replaced only by `force`.
    """
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise SpecError(f'"{path.name}" does not say its format: end it in {" or ".join(_WRITERS)}')
    if not force and (path.exists() or path.is_symlink()):
        raise SpecError(f"{path} is there already: --force replaces it")
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise SpecError(f"cannot write to {path.parent}: {error.strerror}") from error
    os.close(handle)
    try:
        n = write(lambda: (sample_document(entry) for entry in read_samples(store, record)), Path(scratch))
        Path(scratch).replace(path)
    finally:
        Path(scratch).unlink(missing_ok=True)
    return n


Samples = Callable[[], Iterator[dict[str, Any]]]


def _jsonl(samples: Samples, path: Path) -> int:
    n = 0
    with path.open("wb") as out:
        for entry in samples():
            out.write(orjson.dumps(entry) + b"\n")
            n += 1
    return n


def _csv(samples: Samples, path: Path) -> int:
    columns = _columns(samples)
    n = 0
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([harmless(name) for name in columns])
        for row in flat_rows(samples()):
            writer.writerow([harmless(row.get(name)) for name in columns])
            n += 1
    return n


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: such text gets a leading apostrophe.

    >>> harmless("=1+1"), harmless("-3"), harmless(-3)
    ("'=1+1", "'-3", -3)
    """
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA):
        return f"'{value}"
    return value


def _columns(samples: Samples) -> dict[str, set[type]]:
    """All columns of all rows in the order in which they first appear, with the types of their values."""
    columns: dict[str, set[type]] = {}
    for row in flat_rows(samples()):
        for name, value in row.items():
            kinds = columns.setdefault(name, set())
            if value is not None:
                kinds.add(type(value))
    return columns


def _parquet(samples: Samples, path: Path) -> int:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("parquet", "writing Parquet") from error
    columns = _columns(samples)
    schema = arrow.schema([(name, _arrow_type(arrow, kinds)) for name, kinds in columns.items()])
    n = 0
    with parquet.ParquetWriter(path, schema) as writer:
        rows: list[dict[str, Any]] = []
        for row in flat_rows(samples()):
            rows.append({name: _fitting(row.get(name), schema.field(name).type, arrow) for name in columns})
            n += 1
            if len(rows) == PARQUET_ROWS:
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
                rows = []
        writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
    return n


def _arrow_type(arrow: Any, kinds: set[type]) -> Any:
    """The one type that all values of a column have; text when they differ."""
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {int}:
        return arrow.int64()
    if kinds and kinds <= {int, float}:
        return arrow.float64()
    return arrow.string()


def _fitting(value: Any, wanted: Any, arrow: Any) -> Any:
    if value is None or wanted != arrow.string():
        return value
    return value if isinstance(value, str) else str(value)


_WRITERS: dict[str, Callable[[Samples, Path], int]] = {".jsonl": _jsonl, ".csv": _csv, ".parquet": _parquet}
