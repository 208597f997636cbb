"""Decode a stored row into a sample: input, answer, conversation, scores and failures by scorer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from assay.store.runs import RunRecord
from assay.store.sample_rows import StoredSample, stored_samples
from assay.store.store import Store
from assay.store.votes import VOTES
from assay.types import Failure, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample of a run; `failures` has those of a scorer under its key, and a missing answer's under None.

    `excluded_by` names the actions that take the sample out of the metrics, where somebody has asked for them.
    """

    sample_id: str
    trial: int
    sample: Mapping[str, Any]
    output: str | None
    trace: list[Mapping[str, Any]] | None = None
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    scores: Mapping[str, Score] = field(default_factory=dict)
    failures: Mapping[str | None, Failure] = field(default_factory=dict)
    position: int = 0
    excluded_by: tuple[str, ...] = ()


def read_samples(
    store: Store,
    record: RunRecord,
    *,
    sample_id: str | None = None,
    failed: bool = False,
    limit: int | None = None,
) -> Iterator[Sample]:
    """The samples of a run in their order, read in pages."""
    keys = record.spec.scorer_keys
    return decoded(store, record.rows_of, keys, sample_id=sample_id, failed=failed, limit=limit)


def decoded(store: Store, run_no: int, keys: Sequence[str], **which: Any) -> Iterator[Sample]:
    """Decode the samples stored under a run's number; `keys` are its scorers in the order of their slots."""
    for stored in stored_samples(store, run_no, **which):
        yield sample_from(stored, keys)


def sample_from(stored: StoredSample, keys: Sequence[str]) -> Sample:
    """The sample of a stored row; `keys` are those of the scorers in the order of their slots."""
    scores = {}
    # rows come in the order of their keys, so that slots are in order already
    for slot, (values, metadata) in stored.scores.items():
        details = {} if metadata is None else orjson.loads(metadata)
        if slot in stored.votes:
            details[VOTES] = stored.votes[slot]
        key = keys[slot - 1]
        scores[key] = Score(scorer=key, values=_values(values), metadata=details)
    return Sample(
        position=stored.position,
        sample_id=stored.sample_id,
        trial=stored.trial,
        sample=orjson.loads(stored.input),
        output=stored.output,
        trace=None if stored.trace is None else orjson.loads(stored.trace),
        calls=[] if stored.calls is None else orjson.loads(stored.calls),
        scores=scores,
        failures={keys[slot - 1] if slot else None: failure for slot, failure in stored.failures.items()},
    )


@lru_cache(maxsize=4_096)
def _values(text: str) -> Mapping[str, Any]:
    """The values of a score; those of most scorers are few, and come again and again."""
    values: Mapping[str, Any] = orjson.loads(text)
    return values
