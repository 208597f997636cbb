"""JSON: one array of objects. It is read whole, so large datasets belong into JSONL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from assay.datasets.batch import BATCH_ROWS, Batch, batch_of
from assay.datasets.exact_json import (
    exact_integers,
    holds_long_integer,
    may_hold_long_integers,
    may_repeat_keys,
    repeated_key,
)
from assay.datasets.lines import chunks, refused

FILE_BYTES = 512 * 2**20


def read_json(path: Path) -> Iterator[Batch]:
    """The samples of a JSON file."""
    rows = _parsed(path)
    if not isinstance(rows, list):
        raise refused(path, "expected a JSON array of objects; for one object per line, name the file .jsonl")
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise refused(path, f"entry {index + 1} of the array is not an object; expected an array of objects")
    for start in range(0, len(rows), BATCH_ROWS):
        yield batch_of(start, rows[start : start + BATCH_ROWS], str(path))


def _parsed(path: Path) -> object:
    parts, size = [], 0
    for chunk in chunks(path):
        parts.append(chunk)
        size += len(chunk)
        if size > FILE_BYTES:
            raise refused(path, f"longer than {FILE_BYTES // 2**20} MB, the limit of a JSON file; use JSONL instead")
    text = b"".join(parts).removeprefix(b"\xef\xbb\xbf")
    try:
        rows = orjson.loads(text)
        key = repeated_key(text.decode()) if may_repeat_keys(text, rows) else None
        if key is not None:
            raise refused(path, f'the key "{key}" appears twice in one object')
        if may_hold_long_integers(text) and holds_long_integer(decoded := text.decode()):
            return exact_integers(decoded)
        return rows
    except orjson.JSONDecodeError as error:
        problem = f"not valid JSON ({error.msg}); expected an array of objects"
        raise refused(path, problem, error.lineno, error.colno) from error
