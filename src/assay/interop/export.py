"""Samples, answers and scores of a run as a file for other tools."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from assay.errors import MissingExtra, SpecError
from assay.interop.archive import SUFFIX, write_archive
from assay.interop.flat import flat_rows
from assay.interop.new_file import new_file
from assay.results.document import sample_document
from assay.store.decoder import read_samples
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.summary.actions import marked

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_IN_FRONT = " \t\r\n\v\f\x00\xa0\ufeff"
PARQUET_ROWS = 10_000
PROVENANCE = b"assay.provenance"
"""The key of the provenance, as JSON, in a Parquet file's metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The options of an export: overwriting, replies in archives, provenance."""

    force: bool = False
    replies: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict)


def export(store: Store, record: RunRecord, path: Path, options: ExportOptions) -> int:
    """Write every sample of a run to a file, in the format of its extension; return the number of samples.

    The file appears when it is whole: an error leaves what was there before. The provenance of the run is part of a
    Parquet file and of an archive; for JSONL and CSV it is a file beside them.
    """
    suffix = path.suffix.lower()
    if suffix == SUFFIX:
        return write_archive(store, record, path, replies=options.replies, force=options.force)
    write = _WRITERS.get(suffix)
    if write is None:
        raise SpecError(f'"{path.name}" does not say its format: end it in {" or ".join((*_WRITERS, SUFFIX))}')
    if options.replies:
        raise SpecError(f"--replies is for run archives: end {path.name} in {SUFFIX}")
    provenance = orjson.dumps(options.provenance, option=orjson.OPT_INDENT_2)
    with new_file(path, force=options.force) as scratch:
        if suffix == ".parquet":
            return write(_samples(store, record), scratch, provenance)
        with new_file(provenance_file(path), force=options.force) as provenance_stream:
            provenance_stream.write_bytes(provenance + b"\n")
            return write(_samples(store, record), scratch, provenance)


def provenance_file(path: Path) -> Path:
    """Return the path of the provenance file written beside an export.

    >>> provenance_file(Path("out/scores.csv")).as_posix()
    'out/scores.csv.provenance.json'
    """
    return path.with_name(f"{path.name}.provenance.json")


Samples = Callable[[], Iterator[dict[str, Any]]]


def _samples(store: Store, record: RunRecord) -> Samples:
    actions, keys = record.spec.actions, record.spec.scorer_keys
    return lambda: (sample_document(entry) for entry in marked(read_samples(store, record), actions, keys))


def _jsonl(samples: Samples, path: Path, provenance: bytes) -> int:
    n = 0
    with path.open("wb") as out:
        for entry in samples():
            out.write(orjson.dumps(entry) + b"\n")
            n += 1
    return n


def _csv(samples: Samples, path: Path, provenance: bytes) -> int:
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

    Spreadsheets drop line breaks, tabs and spaces in front of a formula, and some take a leading tab for one.

    >>> harmless("=1+1"), harmless("-3"), harmless(-3)
    ("'=1+1", "'-3", -3)
    """
    if isinstance(value, str) and (value.startswith(("\t", "\r")) or value.lstrip(_IN_FRONT).startswith(FORMULA)):
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


def _parquet(samples: Samples, path: Path, provenance: bytes) -> int:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("parquet", "writing Parquet") from error
    columns = _columns(samples)
    fields = [(name, _arrow_type(arrow, kinds)) for name, kinds in columns.items()]
    schema = arrow.schema(fields, metadata={PROVENANCE: provenance})
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
    """Return the common type of a column's values; text if they differ."""
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {int}:
        return arrow.int64()
    if kinds and kinds <= {int, float}:
        return arrow.float64()
    return arrow.string()


def _fitting(value: Any, column_type: Any, arrow: Any) -> Any:
    if value is None or column_type != arrow.string():
        return value
    return value if isinstance(value, str) else str(value)


_WRITERS: dict[str, Callable[[Samples, Path, bytes], int]] = {".jsonl": _jsonl, ".csv": _csv, ".parquet": _parquet}
