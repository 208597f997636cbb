"""Read tables that people edit, and report all problems at once, each with its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

from assay.datasets.csv_table import csv_tables, read_csv
from assay.datasets.jsonl import read_jsonl
from assay.datasets.lines import line_batches
from assay.errors import Place, Problem, SpecError
from assay.spec.nearest import nearest

MOST_PROBLEMS = 20
_READERS = {".csv": read_csv, ".jsonl": read_jsonl, ".ndjson": read_jsonl}


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Read the rows of a CSV or JSONL file that has at least the required columns."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise SpecError(f'cannot tell what "{path}" holds; expected a name in {", ".join(_READERS)}')
    if not path.is_file():
        raise SpecError(f'there is no file "{path}"')
    rows = [dict(sample) for batch in reader(path) for sample in batch.samples]
    _check_columns(path, list(dict.fromkeys(name for row in rows for name in row)), columns)
    return rows


def read_texts(path: Path, columns: Sequence[str], optional: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Read the required and optional columns of a table as text, row by row; missing cells are empty.

    A CSV file is read once, without looking for numbers: that takes a quarter of the time of `read_table`.
    """
    names = (*columns, *optional)
    if path.suffix.lower() != ".csv" or not path.is_file():
        for row in read_table(path, columns):
            yield tuple("" if (value := row.get(name)) is None else str(value) for name in names)
        return
    header: list[str] = []
    for header, rows in csv_tables(path):
        _check_columns(path, header, columns)
        places = [header.index(name) if name in header else len(header) for name in names]
        yield from map(itemgetter(*places), ([*row, ""] for row in rows))
    if not header:
        _check_columns(path, [], columns)


def _check_columns(path: Path, present: Sequence[str], columns: Sequence[str]) -> None:
    for name in columns:
        if name not in present:
            has = f"it has {', '.join(present)}" if present else "it has no rows"
            raise SpecError(Problem(message=f'{path} has no column "{name}"; {has}', suggestion=nearest(name, present)))


def row_lines(path: Path) -> list[int]:
    """The line on which each row of a table begins; the header and blank lines are no rows."""
    lines = (line for _, batch in line_batches(path) for line in batch)
    if path.suffix.lower() != ".csv":
        return [number for number, line in enumerate(lines, start=1) if line.strip()]
    return list(_csv_lines(lines))[1:]


def _csv_lines(lines: Iterator[str]) -> Iterator[int]:
    reader = csv.reader((line + "\n" for line in lines), strict=True)
    start = 1
    for row in reader:
        if row:
            yield start
        start = reader.line_num + 1


@dataclass(frozen=True, slots=True)
class Refused:
    """The problems of a table's rows, by row number from 1, collected until all rows are read."""

    path: Path
    refusals: list[tuple[int, Problem]] = field(default_factory=list)

    def add(self, row: int, message: str, suggestion: str | None = None) -> None:
        """Keep that a row is wrong."""
        self.refusals.append((row, Problem(message=message, suggestion=suggestion)))

    def check(self) -> None:
        """Raise a SpecError with all collected problems, each at the line of its row."""
        if not self.refusals:
            return
        lines = row_lines(self.path)
        problems = [
            Problem(
                message=problem.message,
                suggestion=problem.suggestion,
                place=Place(str(self.path), lines[row - 1]),
            )
            for row, problem in self.refusals[:MOST_PROBLEMS]
        ]
        if len(self.refusals) > MOST_PROBLEMS:
            problems.append(Problem(message=f"{self.path}: and {len(self.refusals) - MOST_PROBLEMS} more rows"))
        raise SpecError(problems)
