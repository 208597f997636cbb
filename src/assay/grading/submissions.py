"""Texts to grade from a folder of files or a table with a text column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.errors import Problem, SpecError
from assay.grading.dataset import RubricDataset
from assay.grading.dataset_files import read_rows
from assay.grading.items import DataItem
from assay.judging.rubric import Rubric
from assay.spec.nearest import listing, nearest
from assay.spec.source import read_source, shown

_TABLES = (".csv", ".jsonl", ".ndjson", ".parquet")
_COLUMNS = ("submission", "text", "output", "response", "answer", "reply")
"""The columns in which a text is looked for by default."""


def read_submissions(path: Path, rubric: Rubric, *, column: str | None = None) -> RubricDataset:
    """Read the texts to grade by a rubric; a dataset file may add prompts, references and rubrics of its own."""
    if not path.exists():
        raise SpecError(f"there is no file or folder {shown(path)}")
    if path.is_dir():
        return RubricDataset(rubric=rubric, items=_folder(path), name=path.name)
    if path.suffix.lower() in _TABLES and column != "submission":
        rows = read_rows(path)
        name = column or next((candidate for candidate in _COLUMNS if any(candidate in row for row in rows)), None)
        if name is None or not any(name in row for row in rows):
            columns = list(dict.fromkeys(key for row in rows for key in row))
            message = f'{shown(path)} has no column "{column or "submission"}"; it has {listing(columns)}'
            closest = nearest(column, columns) if column else None
            raise SpecError(Problem(message=f"{message}; name the one that holds the texts", suggestion=closest))
        if name != "submission":
            return RubricDataset(rubric=rubric, items=[_item(row, name, n) for n, row in enumerate(rows, start=1)])
    dataset = RubricDataset.from_file(path, rubric=rubric)
    dataset.items = [_named(item, number) for number, item in enumerate(dataset.items, start=1)]
    return dataset


def _folder(path: Path) -> list[DataItem]:
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise SpecError(f"{shown(path)} has no files to grade")
    return [DataItem(read_source(file).text, str(file.relative_to(path))) for file in files]


def _item(row: dict[str, object], column: str, number: int) -> DataItem:
    text = row.get(column)
    if not isinstance(text, str):
        raise SpecError(f'row {number} has no text in the column "{column}"')
    prompt, reference = (row.get(name) for name in ("prompt", "reference_submission"))
    item = DataItem(
        text,
        str(row.get("description", row.get("sample_id", ""))),
        prompt=None if prompt is None else str(prompt),
        reference_submission=None if reference is None else str(reference),
    )
    return _named(item, number)


def _named(item: DataItem, number: int) -> DataItem:
    """Name an item without a description by its number."""
    return item if item.description else replace(item, description=str(number))
