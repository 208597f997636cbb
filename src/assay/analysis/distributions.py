"""The distribution of scores over a run, and the votes of its panel, as data for charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import orjson

from assay.interop.numbers import as_number
from assay.store.decoder import Sample
from assay.store.run_spec import StoredScorer
from assay.store.runs import RunRecord
from assay.store.sample_rows import score_pages
from assay.store.store import Store

COLUMNS = 20
FIELDS_SHOWN = 2
"""The number of fields per scorer that are counted."""
ITEMS_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A histogram of one field: the number of samples between every two edges."""

    scorer: str
    field: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def score_distributions(store: Store, record: RunRecord) -> list[Distribution]:
    """The distribution of the first numeric fields of every scorer; one whose values are only 0 and 1 is left out."""
    distributions = []
    for slot, scorer in enumerate(record.spec.scorers, start=1):
        for field in _fields(store, record, slot, scorer):
            values = _numbers(store, record.rows_of, slot, field)
            if not values.size or np.isin(values, (0.0, 1.0)).all():
                continue
            low, high = scorer.ranges.get(field) or (float(values.min()), float(values.max()))
            counts, edges = np.histogram(values, bins=COLUMNS, range=(low, high) if high > low else (low, low + 1))
            distributions.append(
                Distribution(scorer=scorer.key, field=field, edges=tuple(edges.tolist()), counts=tuple(counts.tolist()))
            )
    return distributions


@lru_cache(maxsize=4_096)
def _values(text: str) -> Mapping[str, Any]:
    values: Mapping[str, Any] = orjson.loads(text)
    return values


def _fields(store: Store, record: RunRecord, slot: int, scorer: StoredScorer) -> list[str]:
    if scorer.ranges:
        return list(scorer.ranges)[:FIELDS_SHOWN]
    first = next(score_pages(store, record.rows_of, slot, metadata=False, inputs=False), None)
    sample = {} if first is None or not first.values else _values(first.values[0])
    return [name for name, value in sample.items() if as_number(value) is not None][:FIELDS_SHOWN]


def _numbers(store: Store, run_no: int, slot: int, field: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    pages = []
    for page in score_pages(store, run_no, slot, metadata=False, inputs=False):
        numbers = (as_number(_values(text).get(field)) for text in page.values)
        pages.append(np.array([number for number in numbers if number is not None], dtype=np.float64))
    every = np.concatenate(pages) if pages else np.array([], dtype=np.float64)
    return every[np.isfinite(every)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSummary:
    """The votes of a panel: values of criteria per item, agreement of every two judges, and items they disagree on."""

    scorer: str
    criteria: tuple[str, ...]
    items: tuple[tuple[str, tuple[float | None, ...]], ...]
    judges: tuple[str, ...]
    agreement: Mapping[tuple[str, str], float | None]
    divided: tuple[tuple[str, int, str, int], ...]
    n_items: int


def panel_summaries(samples: Iterable[Sample]) -> list[PanelSummary]:
    """Summarise each scorer with votes; `divided` lists the items with the most disagreement."""
    tallies: dict[str, _Tally] = {}
    for sample in samples:
        for key, score in sample.scores.items():
            votes = score.metadata.get("votes")
            if isinstance(votes, Mapping):
                tallies.setdefault(key, _Tally(key)).add(sample, votes, score.values)
    return [tally.summary() for tally in tallies.values()]


class _Tally:
    """Counts votes sample by sample, so that no run has to fit into memory."""

    def __init__(self, scorer: str) -> None:
        self._scorer = scorer
        self._criteria: dict[str, None] = {}
        self._rows: list[tuple[str, Mapping[str, Any]]] = []
        self._judges: dict[str, None] = {}
        self._pairs: dict[tuple[str, str], list[int]] = {}
        self._divided: list[tuple[int, str, int, str]] = []
        self._n = 0

    def add(self, sample: Sample, votes: Mapping[str, Sequence[Mapping[str, Any]]], values: Mapping[str, Any]) -> None:
        self._n += 1
        disagreements, most = 0, ""
        for criterion, cast in votes.items():
            self._criteria.setdefault(criterion)
            labels = {
                str(vote.get("judge_id")): str(vote.get("verdict", vote.get("selected_label")))
                for vote in cast
                if vote.get("error") is None and not vote.get("repeat")
            }
            apart = self._count_pairs(labels)
            if apart > 0:
                disagreements, most = disagreements + apart, most or criterion
        if len(self._rows) < ITEMS_SHOWN:
            self._rows.append((sample.sample_id, values))
        if disagreements:
            self._divided.append((-disagreements, sample.sample_id, sample.position, most))
            self._divided = sorted(self._divided)[: ITEMS_SHOWN // 2]

    def _count_pairs(self, labels: Mapping[str, str]) -> int:
        """Count equal and all votes of every two judges; return how many pairs disagree."""
        apart = 0
        judges = list(labels)
        for judge in judges:
            self._judges.setdefault(judge)
        for place, first in enumerate(judges):
            for second in judges[place + 1 :]:
                counts = self._pairs.setdefault((first, second), [0, 0])
                counts[0] += labels[first] == labels[second]
                counts[1] += 1
                apart += labels[first] != labels[second]
        return apart

    def summary(self) -> PanelSummary:
        criteria = tuple(self._criteria)
        return PanelSummary(
            scorer=self._scorer,
            criteria=criteria,
            items=tuple(
                (sample_id, tuple(as_number(values.get(criterion)) for criterion in criteria))
                for sample_id, values in self._rows
            ),
            judges=tuple(self._judges),
            agreement={pair: equal / n if n else None for pair, (equal, n) in self._pairs.items()},
            divided=tuple((sample_id, position, most, -apart) for apart, sample_id, position, most in self._divided),
            n_items=self._n,
        )
