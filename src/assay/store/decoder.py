"""The samples behind a run's numbers, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from assay.store.runs import RunRecord
from assay.store.sample_rows import StoredSample, stored_samples
from assay.store.store import Store
from assay.types import Failure, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFailure:
    """A failure and the scorer that had it; None when the sample got no answer at all."""

    scorer: str | None
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample with its answer, scores and failures."""

    sample_id: str
    trial: int
    sample: Mapping[str, Any]
    output: str | None
    trace: list[Mapping[str, Any]] | None
    calls: list[Mapping[str, Any]]
    scores: Mapping[str, Score]
    failures: tuple[NamedFailure, ...]

    @property
    def is_wrong(self) -> bool:
        """Did a scorer find it incorrect?"""
        return any(score.values.get("is_correct") == 0 for score in self.scores.values())


def read_samples(
    store: Store, record: RunRecord, *, sample_id: str | None = None, failed: bool = False
) -> Iterator[Sample]:
    """The samples of a run in their order, read in pages."""
    keys = scorer_keys(record)
    for stored in stored_samples(store, record.rows_of, sample_id=sample_id, failed=failed):
        yield _evidence(stored, keys)


def scorer_keys(record: RunRecord) -> list[str]:
    """The keys of a run's scorers in the order of their slots."""
    return list(orjson.loads(record.spec)["scorers"])


def _evidence(stored: StoredSample, keys: list[str]) -> Sample:
    return Sample(
        sample_id=stored.sample_id,
        trial=stored.trial,
        sample=orjson.loads(stored.input),
        output=stored.output,
        trace=None if stored.trace is None else orjson.loads(stored.trace),
        calls=[] if stored.calls is None else orjson.loads(stored.calls),
        scores={
            keys[slot - 1]: Score(
                scorer=keys[slot - 1],
                values=orjson.loads(values),
                metadata={} if metadata is None else orjson.loads(metadata),
            )
            for slot, (values, metadata) in sorted(stored.scores.items())
        },
        failures=tuple(
            NamedFailure(scorer=keys[slot - 1] if slot else None, failure=failure)
            for slot, failure in sorted(stored.failures.items())
        ),
    )
