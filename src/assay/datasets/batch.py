"""Batches of samples: a few thousand at a time, with their ids and their JSON text."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from assay.datasets.exact_json import json_ready
from assay.errors import Problem, SpecError
from assay.spec.nearest import listing, nearest

BATCH_ROWS = 5_000
# long texts make a batch smaller, so that memory is bounded by bytes and not only by rows
BATCH_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Consecutive samples of a dataset; `start` is the position of the first one.

    `texts` holds each sample as JSON text for the store; for a JSONL file it is the line itself.
    """

    start: int
    ids: list[str]
    samples: list[dict[str, Any]]
    texts: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def rest(self, done: int) -> Batch:
        """The batch without its first rows."""
        return self.part(range(done, len(self)), self.start + done)

    def part(self, places: Sequence[int], start: int) -> Batch:
        """Return some rows of the batch, by position."""
        return Batch(
            start=start,
            ids=[self.ids[place] for place in places],
            samples=[self.samples[place] for place in places],
            texts=[self.texts[place] for place in places],
        )


def batch_of(start: int, samples: list[dict[str, Any]], source: str, *, texts: list[str] | None = None) -> Batch:
    """The batch of samples that are plain JSON values already."""
    if texts is None:
        texts = [orjson.dumps(sample).decode() for sample in samples]
    return Batch(start=start, ids=ids_of(samples, start, source), samples=samples, texts=texts)


def in_batches(rows: Iterable[Mapping[str, Any]], source: str) -> Iterator[Batch]:
    """Build batches of rows that may contain dates and the like; values that JSON cannot represent become text.

    >>> [batch.ids for batch in in_batches([{"q": 1}, {"q": 2}], "inline samples")]
    [['0', '1']]
    """
    start, size, texts = 0, 0, []
    for number, row in enumerate(rows, start=1):
        texts.append(_json_text(row, number, source))
        size += len(texts[-1])
        if len(texts) == BATCH_ROWS or size >= BATCH_BYTES:
            yield batch_of(start, [orjson.loads(text) for text in texts], source, texts=texts)
            start, size, texts = number, 0, []
    if texts:
        yield batch_of(start, [orjson.loads(text) for text in texts], source, texts=texts)


def ids_of(samples: list[dict[str, Any]], start: int, source: str) -> list[str]:
    """Return the column `sample_id` if the samples have it, else their positions in the source."""
    named = sum(["sample_id" in sample for sample in samples])
    if not named:
        return list(map(str, range(start, start + len(samples))))
    if named < len(samples):
        row = next(i for i, sample in enumerate(samples) if "sample_id" not in sample)
        raise SpecError(f"{source}: row {start + row + 1} has no sample_id, but other rows have one")
    ids = [sample["sample_id"] for sample in samples]
    if set(map(type, ids)) == {str} and all(ids):
        return ids
    return [_id_text(value, start + i + 1, source) for i, value in enumerate(ids)]


def column_ids(samples: Sequence[Mapping[str, Any]], column: str, start: int) -> list[str]:
    """Return the sample ids from a given column."""
    try:
        ids = [sample[column] for sample in samples]
    except KeyError:
        row = next(i for i, sample in enumerate(samples) if column not in sample)
        names = list(samples[row])
        message = f'id_column: row {start + row + 1} has no column "{column}"; it has {listing(names)}'
        raise SpecError(Problem(message=message, suggestion=nearest(column, names))) from None
    if set(map(type, ids)) == {str} and all(ids):
        return ids
    return [_id_text(value, start + i + 1, "id_column", column) for i, value in enumerate(ids)]


def _id_text(value: object, row: int, source: str, column: str = "sample_id") -> str:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        return str(value)
    raise SpecError(f"{source}: row {row} has the {column} {value!r}; expected text or a number")


def _json_text(row: Mapping[str, Any], number: int, source: str) -> str:
    try:
        return orjson.dumps(row, default=_plain).decode()
    except TypeError as error:
        exact = json_ready(dict(row))
        if exact != row:
            return _json_text(exact, number, source)
        raise SpecError(f"{source}: row {number} cannot be written as JSON: {error}") from error


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, (set, tuple)):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__}")
