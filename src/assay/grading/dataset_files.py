"""Dataset files of rubrics: JSON, YAML, JSONL, CSV and Parquet, with every error at its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.errors import MissingExtra, MissingFile, Place, Problem, SpecError
from assay.grading.items import DataItem, read_truth
from assay.judging.rubric import Rubric, read_rubric
from assay.judging.rubric_layout import Elsewhere
from assay.spec.document import Document, Steps
from assay.spec.locate import Checker
from assay.spec.messages import described
from assay.spec.nearest import nearest
from assay.spec.nodes import Node, parse
from assay.spec.source import Source, shown

_TEXTS = ("description", "prompt", "reference_submission")
_FIELDS = ("submission", "ground_truth", "ground_truth_reasons", "reasons", "rubric", "id", "title", *_TEXTS)
_TOP = ("name", "prompt", "rubric", "guidelines", "reference_submission", "items")
_TABLES = (".jsonl", ".ndjson", ".csv", ".parquet")
"""File types that may have additional columns of the user's own."""
_MOST_BYTES = 1024**3


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of a file, and the line that each begins on."""

    rows: list[Mapping[str, Any]]
    lines: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetContent:
    """The content of a dataset file; `rubric` is its own, else the one passed in."""

    prompt: str | None
    rubric: Rubric | None
    items: Sequence[DataItem]
    name: str | None
    reference_submission: str | None


def read_dataset(path: Path, rubric: Rubric | None) -> DatasetContent:
    """The content of a dataset file; a SpecError lists all that is wrong."""
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        from assay.spec.load import load_document

        return _dataset(load_document(path, strict=False), (), rubric)
    if suffix == ".json":
        return _dataset(_json(path, _content(path)), (), rubric)
    return _dataset(_rows_document(path, _table(path)), (), rubric)


def dataset_of_text(text: str) -> DatasetContent:
    """The content of a dataset in JSON text; a SpecError lists all that is wrong."""
    return _dataset(_json(Path("dataset"), text.encode()), (), None)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL, CSV or Parquet file."""
    return [dict(row) for row in _table(path).rows]


def _table(path: Path) -> _Table:
    readers: dict[str, Callable[[Path, bytes], _Table]] = {
        ".jsonl": _jsonl,
        ".ndjson": _jsonl,
        ".csv": _csv,
        ".parquet": _parquet,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise SpecError(f"{shown(path)}: a dataset is a .json, .yaml, .jsonl, .csv or .parquet file")
    return readers[suffix](path, _content(path))


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SpecError(f"{shown(path)} has more than {_MOST_BYTES:,} bytes")
        return path.read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"there is no file {shown(path)}") from None
    except OSError as error:
        raise SpecError(f"{shown(path)} cannot be read: {error.strerror}") from None


def _json(path: Path, content: bytes) -> Document:
    data = _loaded(content, shown(path), 1)

    def locate(steps: Steps) -> Place | None:
        """Locate a value; only a file with a problem is read a second time for that."""
        source = Source(path, shown(path), content.decode("utf-8-sig", "replace"))
        try:
            return _walk(parse(source), steps) or Place(source.file)
        except SpecError:
            return Place(source.file)

    return Elsewhere(path=path, root=path.parent, data=data, positions={}, sources={}, locate=locate)


def _loaded(content: bytes, file: str, line: int) -> Any:
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        place = Place(file, line + error.lineno - 1, error.colno)
        raise SpecError(Problem(message=f"not valid JSON: {error.msg}", place=place)) from None


def _walk(node: Node | None, steps: Steps) -> Place | None:
    place = node.place if node is not None else None
    for step in steps:
        if node is None:
            break
        if node.kind == "map":
            node = next((value for key, value in node.pairs if key.text == step), None)
        else:
            node = node.children[step] if isinstance(step, int) and step < len(node.children) else None
        place = node.place if node is not None else place
    return place


def _rows_document(path: Path, table: _Table) -> Document:
    def locate(steps: Steps) -> Place | None:
        row = steps[1] if len(steps) > 1 else None
        return Place(shown(path), table.lines[row] if isinstance(row, int) else 1)

    data = {"items": table.rows}
    return Elsewhere(path=path, root=path.parent, data=data, positions={}, sources={}, locate=locate)


def _jsonl(path: Path, content: bytes) -> _Table:
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        row = _loaded(line, shown(path), number)
        if not isinstance(row, dict):
            message = f'expected an object such as {{"submission": "..."}}, got {described(row)}'
            raise SpecError(Problem(message=message, place=Place(shown(path), number)))
        rows.append(row)
        lines.append(number)
    return _Table(rows, lines)


def _csv(path: Path, content: bytes) -> _Table:
    """Read CSV rows; every value is text as written, and an empty cell counts as missing."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(Problem(message="not UTF-8 text; save the file as UTF-8", place=Place(shown(path)))) from None
    csv.field_size_limit(_MOST_BYTES)
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    try:
        header = next(reader, [])
        begins = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(header):
                message = f"the row has {len(row)} values, but the header names {len(header)} columns"
                raise SpecError(Problem(message=message, place=Place(shown(path), begins)))
            if row:
                rows.append({name: value for name, value in zip(header, row, strict=True) if value != ""})
                lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        place = Place(shown(path), max(reader.line_num, 1))
        raise SpecError(Problem(message=f"not valid CSV: {error}", place=place)) from None
    return _Table(rows, lines)


def _parquet(path: Path, content: bytes) -> _Table:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("parquet", "a Parquet file") from None
    rows = pyarrow.parquet.read_table(path).to_pylist()
    return _Table([{name: value for name, value in row.items() if value is not None} for row in rows], [1] * len(rows))


def _dataset(document: Document, steps: Steps, rubric: Rubric | None) -> DatasetContent:
    checker = Checker(document)
    data: Any = document.data
    if isinstance(data, list):
        data = {"items": data}
        at: Steps = steps
    else:
        at = (*steps, "items")
    if not isinstance(data, Mapping) or not isinstance(data.get("items"), list):
        raise SpecError(document.problem('a dataset has "items", a list of submissions', steps))
    _misspelt(data, _TOP, steps, checker)
    dataset_rubric = _own_rubric(data, steps, checker) or rubric
    reader = _ItemReader(checker, dataset_rubric, table=document.path.suffix.lower() in _TABLES)
    items = [reader.item(row, (*at, place)) for place, row in enumerate(data["items"])]
    texts = {name: _text(data, name, steps, checker) for name in ("name", "prompt", "reference_submission")}
    if checker.problems:
        raise SpecError(checker.problems)
    return DatasetContent(
        prompt=texts["prompt"],
        rubric=dataset_rubric,
        items=[item for item in items if item is not None],
        name=texts["name"],
        reference_submission=texts["reference_submission"],
    )


def _own_rubric(data: Mapping[str, Any], steps: Steps, checker: Checker) -> Rubric | None:
    if data.get("rubric") is None:
        return None
    # guidelines stand beside the rubric or inside it: both are read as one layout
    layout = {name: data[name] for name in ("rubric", "guidelines") if data.get(name) is not None}
    return read_rubric(layout, steps, checker)


class _ItemReader:
    """Reads one item after the other and notes what is wrong with each."""

    def __init__(self, checker: Checker, rubric: Rubric | None, *, table: bool) -> None:
        self._checker = checker
        self._table = table
        self._rubric = rubric

    def item(self, row: Any, steps: Steps) -> DataItem | None:
        checker = self._checker
        before = len(checker.problems)
        if not isinstance(row, Mapping):
            checker.report(f"expected an item with a submission, got {described(row)}", steps)
            return None
        if self._table:
            _misspelt(row, _FIELDS, steps, checker)
        else:
            self._unknown(row, steps)
        submission = row.get("submission")
        if not isinstance(submission, str):
            problem = f"submission: expected text, got {described(submission)}" if "submission" in row else ""
            checker.report(problem or 'missing field "submission" in the item', steps)
        item_rubric = self._item_rubric(row, steps)
        rubric = item_rubric or self._rubric
        truth = self._truth(row.get("ground_truth"), rubric, steps)
        reasons_field = "reasons" if "reasons" in row else "ground_truth_reasons"
        reasons = self._reasons(row.get(reasons_field), rubric, (*steps, reasons_field))
        texts = {name: _text(row, name, steps, checker) for name in _TEXTS}
        if rubric is None and len(checker.problems) == before:
            checker.report("neither the item nor the dataset has a rubric", steps)
        if len(checker.problems) > before:
            return None
        several = isinstance(truth, Mapping)
        return DataItem(
            submission=str(submission),
            description=texts["description"] or "",
            ground_truth=None if several else truth,
            rubric=item_rubric,
            prompt=texts["prompt"],
            reference_submission=texts["reference_submission"],
            annotators=truth if several else None,
            ground_truth_reasons=reasons,
        )

    def _unknown(self, row: Mapping[str, Any], steps: Steps) -> None:
        for name in row:
            if name not in _FIELDS:
                closest = nearest(str(name), _FIELDS)
                self._checker.report(f'unknown field "{name}" in the item', (*steps, name), closest)

    def _item_rubric(self, row: Mapping[str, Any], steps: Steps) -> Rubric | None:
        content = row.get("rubric")
        if content is None:
            return None
        if isinstance(content, str):
            content = self._written(content, (*steps, "rubric"))
        return None if content is None else read_rubric(content, (*steps, "rubric"), self._checker)

    def _truth(self, content: Any, rubric: Rubric | None, steps: Steps) -> Any:
        at = (*steps, "ground_truth")
        if isinstance(content, str):
            content = self._written(content, at)
        if content is None or rubric is None:
            return None
        try:
            if isinstance(content, Mapping):
                return {str(name): read_truth(verdicts, rubric) for name, verdicts in content.items()}
            return read_truth(content, rubric)
        except SpecError as error:
            for problem in error.problems:
                self._checker.report(problem.message, at)
            return None

    def _reasons(self, content: Any, rubric: Rubric | None, at: Steps) -> list[str | None] | None:
        """Read the reasons for the human verdicts: a text or null per criterion."""
        if isinstance(content, str):
            content = self._written(content, at)
        if content is None or rubric is None:
            return None
        fits = isinstance(content, list) and len(content) == len(rubric)
        if not fits or any(reason is not None and not isinstance(reason, str) for reason in content):
            self._checker.report(f"{at[-1]}: expected a list of {len(rubric)} texts or nulls, one per criterion", at)
            return None
        return [None if reason is None else str(reason) for reason in content]

    def _written(self, text: str, steps: Steps) -> Any:
        """A list or mapping in a cell of a table, as JSON."""
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            self._checker.report(f'{steps[-1]}: expected JSON such as ["MET", "UNMET"], got {described(text)}', steps)
            return None


def _text(row: Mapping[str, Any], name: str, steps: Steps, checker: Checker) -> str | None:
    text = row.get(name)
    if text is not None and not isinstance(text, str):
        checker.report(f"{name}: expected text, got {described(text)}", (*steps, name))
        return None
    return None if text is None else str(text)


def _misspelt(row: Mapping[str, Any], fields: Sequence[str], steps: Steps, checker: Checker) -> None:
    """Detect a misspelled field; a field that resembles none of ours is the user's own."""
    for name in row:
        closest = None if name in fields else nearest(str(name), fields)
        if closest is not None and closest not in row and abs(len(closest) - len(str(name))) <= 1:
            checker.report(f'unknown field "{name}"', (*steps, name), closest)
