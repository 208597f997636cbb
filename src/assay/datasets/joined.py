"""Several datasets as one: rows aligned by position, each sample `{name: row}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

import orjson

from assay.datasets.batch import BATCH_ROWS, Batch
from assay.errors import SpecError
from assay.registry import SourceKind
from assay.spec.fields import SourceSpec

Open = Callable[[], Iterable[Batch]]
_OVER: Any = object()


class JoinedSource(SourceSpec):
    """Several datasets side by side."""

    type: Literal["joined"] = "joined"


def joined(parts: Sequence[tuple[str, Open]]) -> SourceKind:
    """Build a source whose samples combine one row of every part; all parts must have equal length."""
    return SourceKind(settings=JoinedSource, read=partial(_read, parts))


def _read(
    parts: Sequence[tuple[str, Open]], settings: JoinedSource, folder: Path, root: Path | None = None
) -> Iterator[Batch]:
    names = [name for name, _ in parts]
    aligned = zip_longest(*(_rows(opened()) for _, opened in parts), fillvalue=_OVER)
    start = 0
    while group := list(islice(aligned, BATCH_ROWS)):
        samples = [_sample(names, rows, start + i) for i, rows in enumerate(group)]
        yield Batch(
            start=start,
            ids=[rows[0][0] for rows in group],
            samples=samples,
            texts=[orjson.dumps(sample).decode() for sample in samples],
        )
        start += len(group)


def _rows(batches: Iterable[Batch]) -> Iterator[tuple[str, dict[str, Any]]]:
    for batch in batches:
        yield from zip(batch.ids, batch.samples, strict=True)


def _sample(names: Sequence[str], rows: Sequence[Any], position: int) -> dict[str, Any]:
    if any(row is _OVER for row in rows):
        short = [name for name, row in zip(names, rows, strict=True) if row is _OVER]
        longer = [name for name in names if name not in short]
        raise SpecError(
            f'the datasets of a task are aligned by position, but "{short[0]}" has {position:,} rows '
            f'and "{longer[0]}" has more'
        )
    return {name: row[1] for name, row in zip(names, rows, strict=True)}
