"""JSON Lines: one object a line; the line itself goes to the store, so nothing is written twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from assay.datasets.batch import Batch, batch_of
from assay.datasets.exact_json import may_hold_long_integers, may_repeat_keys, repeated_key, with_exact_integers
from assay.datasets.lines import line_batches, refused

_JSON_NAMES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    type(None): "null",
}


def read_jsonl(path: Path) -> Iterator[Batch]:
    """The samples of a JSONL file; blank lines are skipped."""
    start, loads = 0, orjson.loads
    for first, lines in line_batches(path):
        if lines[0].endswith("\r"):
            lines = [line.rstrip("\r") for line in lines]
        originals = lines
        try:
            samples = [loads(line) for line in lines]
        except orjson.JSONDecodeError:
            lines, samples = _one_by_one(path, first, lines)
        if set(map(type, samples)) - {dict}:
            _one_by_one(path, first, lines)
        text = "\n".join(originals).encode()
        _refuse_repeated_keys(path, first, originals, samples, text)
        if may_hold_long_integers(text):
            lines, samples = with_exact_integers(lines, samples)
        if samples:
            yield batch_of(start, samples, str(path), texts=lines)
            start += len(samples)


def _refuse_repeated_keys(path: Path, first: int, lines: list[str], samples: list[dict[str, Any]], text: bytes) -> None:
    """Reject an object with a duplicate key: the parser keeps the last value, and the intended one is unknown."""
    if not may_repeat_keys(text, samples):
        return
    for number, line in enumerate(lines, start=first):
        key = repeated_key(line) if line.strip() else None
        if key is not None:
            raise refused(path, f'the key "{key}" appears twice in this object', number)


def _one_by_one(path: Path, first: int, lines: list[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """Parse line by line, slowly: skips blank lines, and names the line that is wrong."""
    remaining, samples = [], []
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            continue
        try:
            sample = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            problem = f"not valid JSON ({error.msg}); expected one JSON object per line"
            raise refused(path, problem, number, error.colno) from error
        if not isinstance(sample, dict):
            kind = _JSON_NAMES[type(sample)]
            raise refused(path, f"a JSON {kind}; expected a JSON object on each line", number)
        remaining.append(line)
        samples.append(sample)
    return remaining, samples
