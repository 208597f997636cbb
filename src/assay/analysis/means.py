"""Which numbers of a stored run are means over its samples, and how a sample's part of them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.errors import SpecError
from assay.interop.numbers import as_number
from assay.prepare.describe import completed
from assay.registry import Registry
from assay.results.rules import find_addresses, one_address
from assay.spec.nearest import listing
from assay.store import runs
from assay.store.run_spec import StoredScorer
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.templates import columns_read

Read = Callable[[Mapping[str, Any]], float | None]
"""A sample's part of a mean, from the values and details of its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMean:
    """A number of a run that is a mean over its samples; `labels` says what a declared label is worth."""

    address: str
    scorer: str
    read: Read
    fields: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    group_by: str | None = None
    cluster_by: str | None = None
    headline: bool = True
    labels: Mapping[str, float] = field(default_factory=dict)


def sample_means(store: Store, record: RunRecord, registry: Registry) -> dict[str, SampleMean]:
    """The metrics of a run that are means over samples, by address."""
    means: dict[str, SampleMean] = {}
    stored: dict[str, list[tuple[str, str, list[str]]]] = {}
    for scorer_key, metric, kind, document in runs.metric_documents(store, record.no):
        names = list(orjson.loads(document)["values"])
        stored.setdefault(scorer_key, []).append((metric, kind, names))
    for scorer in completed(record.spec, registry).scorers:
        metrics = stored.get(scorer.key, [])
        for place, (metric, kind, names) in enumerate(metrics):
            settings = scorer.metrics[place].settings if len(scorer.metrics) == len(metrics) else None
            if settings is None and kind == "mean":
                settings = {"type": "mean", "field": names[0].removesuffix("_mean")}
            name = next((n for n in names if n == "accuracy"), None) if kind in _ACCURACIES else names[0]
            if settings is None or name is None or kind not in _READERS:
                continue
            address = f"{scorer.key}/{metric}/{name}"
            means[address] = _measure(address, scorer, kind, settings)
    return means


def one_mean(
    store: Store, records: Iterable[RunRecord], measures: Iterable[str], name: str, *, use: str = "compared"
) -> str:
    """The one mean that a name means; a SpecError says so where it names a number that is there but is no mean."""
    known = list(measures)
    if not find_addresses(known, name):
        every = dict.fromkeys(address for record in records for address in _addresses(store, record))
        found = find_addresses(every, name)
        if found:
            raise SpecError(
                f'"{name}" is there ({listing(found)}), but not as a mean of one number a sample in every run, so it '
                f"cannot be {use} sample by sample; what can: {listing(known)}"
            )
    return one_address(known, name)


def _addresses(store: Store, record: RunRecord) -> Iterator[str]:
    """The addresses of all numbers of a run."""
    for scorer, metric, _, document in runs.metric_documents(store, record.no):
        yield from (f"{scorer}/{metric}/{name}" for name in orjson.loads(document)["values"])


def _measure(address: str, scorer: StoredScorer, kind: str, settings: Mapping[str, Any]) -> SampleMean:
    fields, read, bounds = _READERS[kind](settings)
    return SampleMean(
        address=address,
        scorer=scorer.key,
        read=read,
        fields=fields,
        bounds=scorer.ranges.get(fields[0]) if bounds is None else bounds,
        group_by=settings.get("group_by"),
        cluster_by=settings.get("cluster_by"),
        headline=scorer.purpose == "score",
        labels=_labels(settings, scorer.settings),
    )


def _labels(metric: Mapping[str, Any], scorer: Mapping[str, Any]) -> dict[str, float]:
    """What labels are worth: by the weights of the metric, or as those that a judge may call correct or not."""
    weights = {str(label): float(weight) for label, weight in (metric.get("weights") or {}).items()}
    sides = ((1.0, scorer.get("correct_labels")), (0.0, scorer.get("incorrect_labels")))
    return weights or {str(label): worth for worth, labels in sides for label in labels or ()}


_Reader = tuple[tuple[str, ...], Read, tuple[float, float] | None]


def _mean(entry: Mapping[str, Any]) -> _Reader:
    name = str(entry["field"])
    return (name,), lambda score: as_number(score.get(name)), None


def _weighted(entry: Mapping[str, Any]) -> _Reader:
    name, weights = str(entry["field"]), entry["weights"]

    def read(score: Mapping[str, Any]) -> float | None:
        return as_number(weights.get(str(score[name]))) if score.get(name) is not None else None

    return (name,), read, (min(weights.values()), max(weights.values()))


def _accuracy(entry: Mapping[str, Any]) -> _Reader:
    truth, said = str(entry["field_gt"]), str(entry["field_pred"])
    known = entry.get("labels") or [entry[n] for n in ("negative_answer", "positive_answer") if n in entry]

    def read(score: Mapping[str, Any]) -> float | None:
        pair = [score.get(truth), score.get(said)]
        if None in pair or (known and not {str(each) for each in pair} <= set(map(str, known))):
            return None
        return 1.0 if str(pair[0]) == str(pair[1]) else 0.0

    return (truth, said), read, (0.0, 1.0)


_ACCURACIES = ("binary-classification", "multiclass-classification")
_READERS: dict[str, Callable[[Mapping[str, Any]], _Reader]] = {
    "mean": _mean,
    "weighted_average": _weighted,
    **dict.fromkeys(_ACCURACIES, _accuracy),
}


def answer_columns(record: RunRecord) -> set[str]:
    """The columns that hold recorded answers: they differ between runs although the question is the same."""
    spec = record.spec
    named = set() if spec.answer_column is None else {spec.answer_column}
    for scorer in spec.scorers:
        value = scorer.settings.get("value")
        if isinstance(value, str):
            named |= {use.name for use in columns_read(value)}
    return named
