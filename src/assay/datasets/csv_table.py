"""CSV: a column gets a type only if every value of it, turned back into text, is the same text."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from assay.datasets.batch import BATCH_BYTES, BATCH_ROWS, Batch, batch_of
from assay.datasets.lines import LINE_BYTES, line_batches, refused

Table = list[list[str]]
Typed = Callable[[str], Any]
MOST_COLUMNS = 16_384
"""The column limit of spreadsheets; a header with more uses another separator, or is not a table."""
_INT64 = range(-(2**63), 2**63)
_BOOLEANS = {"True": True, "False": False}


def read_csv(path: Path) -> Iterator[Batch]:
    """The samples of a CSV file; it is read twice, first to learn the types with little memory."""
    types: list[Typed] | None = None
    start = 0
    for header, rows in csv_tables(path):
        if types is None:
            types = _column_types(path, header)
        columns = [
            column if as_type is str else map(as_type, column)
            for as_type, column in zip(types, zip(*rows, strict=True), strict=True)
        ]
        samples = [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)]
        yield batch_of(start, samples, str(path))
        start += len(samples)


def csv_tables(path: Path) -> Iterator[tuple[list[str], Table]]:
    """The header and some thousand rows at a time, every row as long as the header."""
    csv.field_size_limit(LINE_BYTES)
    lines = (line + "\n" for _, batch in line_batches(path) for line in batch)
    reader = csv.reader(lines, strict=True)
    try:
        header = _header(path, next(reader, None))
        while rows := _rows(path, reader, len(header)):
            yield header, rows
    except csv.Error as error:
        raise refused(path, f"not valid CSV: {error}", max(reader.line_num, 1)) from error


def _header(path: Path, header: list[str] | None) -> list[str]:
    if not header:
        raise refused(path, "expected a header: the first line names the columns")
    if len(header) > MOST_COLUMNS:
        raise refused(path, f"{len(header):,} columns; at most {MOST_COLUMNS:,} are read")
    names: set[str] = set()
    for index, name in enumerate(header):
        if not name.strip():
            raise refused(path, f"column {index + 1} of the header has no name")
        if name in names:
            raise refused(path, f'the header names the column "{name}" twice')
        names.add(name)
    return header


def _whole_rows(path: Path, reader: Any, done: int) -> Iterator[list[str]]:
    """The rows of the reader; `done` is the last line before them. An error names the line where its row begins."""
    try:
        for row in reader:
            done = reader.line_num
            yield row
    except csv.Error as error:
        # a quote that is never closed takes in all lines below it: the reader stands at the end of the file
        open_quote = "; a quote in the row that begins here is never closed" if "end of data" in str(error) else ""
        raise refused(path, f"not valid CSV: {error}{open_quote}", done + 1) from error


def _rows(path: Path, reader: Any, width: int) -> Table:
    rows, size = [], 0
    for row in _whole_rows(path, reader, reader.line_num):
        if len(row) != width:
            if not row:
                continue  # a blank line
            problem = f"{len(row)} values in this row; expected {width}, as in the header"
            raise refused(path, problem, reader.line_num)
        rows.append(row)
        size += sum(map(len, row))
        if len(rows) == BATCH_ROWS or size > BATCH_BYTES:
            break
    return rows


def _column_types(path: Path, header: list[str]) -> list[Typed]:
    """For each column the first type that keeps every text; str keeps all."""
    open_types = [list[Typed]((_int, _float, _bool)) for _ in header]
    for _, rows in csv_tables(path):
        for candidates, column in zip(open_types, zip(*rows, strict=True), strict=True):
            candidates[:] = [as_type for as_type in candidates if _keeps(as_type, column)]
        # every column is text by now: the rest of the file cannot change that
        if not any(open_types):
            break
    return [candidates[0] if candidates else str for candidates in open_types]


def _keeps(as_type: Typed, column: tuple[str, ...]) -> bool:
    try:
        return all(str(as_type(text)) == text for text in column)
    except (ValueError, KeyError):
        return False


def _int(text: str) -> int:
    value = int(text)
    if value not in _INT64:
        raise ValueError(text)
    return value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _bool(text: str) -> bool:
    return _BOOLEANS[text]
