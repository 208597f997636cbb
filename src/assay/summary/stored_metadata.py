"""The metadata of a run's scores, read page by page for what scorers and metrics count in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import orjson

from assay.registry import StoredMetadata
from assay.store import sample_rows as evidence
from assay.summary.inputs import MetricInputs


def stored_metadata(basis: MetricInputs, slot: int) -> StoredMetadata:
    """The metadata of one scorer of a run, without the samples that are left out."""

    # a metric's baseline and the scorer's own counts both want it
    @cache
    def distinct() -> tuple[tuple[Mapping[str, Any], int], ...]:
        texts: Counter[str] = Counter()
        for page in evidence.score_pages(basis.store, basis.rows_of, slot, metadata=True, inputs=False):
            texts.update(_included(basis, page))
        return tuple((orjson.loads(text), n) for text, n in texts.items())

    def with_field(name: str) -> Iterator[Mapping[str, Any]]:
        for page in evidence.score_pages(basis.store, basis.rows_of, slot, metadata=True, inputs=False, having=name):
            yield from map(orjson.loads, _included(basis, page))

    return StoredMetadata(distinct=distinct, with_field=with_field)


def _included(basis: MetricInputs, page: evidence.ScorePage) -> Iterator[str]:
    for position, text in zip(page.positions, page.metadata, strict=True):
        if text is not None and position not in basis.without:
            yield text
