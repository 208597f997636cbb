"""One number a sample: what a comparison, a calibration and a plan read of a stored run."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from assay.engine.actions import excluded
from assay.engine.evidence import Evidence, evidence_of
from assay.engine.trials import aggregate
from assay.errors import SpecError
from assay.metric.compute import coarsen
from assay.metric.table import TableColumn
from assay.registry import Kind, Registry
from assay.spec import LoadedScorer, LoadedTask
from assay.spec.document import Document
from assay.spec.fields import ScorerSpec
from assay.spec.task import Definition, Task, Trials
from assay.stats.units import IntArray
from assay.store import runs
from assay.store.evidence import stored_samples
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.template import columns_read, texts
from assay.types import Rows

Read = Callable[[Mapping[str, Any]], float | None]
"""A sample's part of a mean, from the values and details of its score."""
PAGE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
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


@dataclass(slots=True)
class Series:
    """The samples of a run under one measure, by id; `failed` says why a sample has no number."""

    measure: Measure
    values: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    criteria: dict[str, dict[str, float]] = field(default_factory=dict)
    options: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeries:
    """A run with its measures; `contents` holds a digest of every sample, `sources` the sample that a row came from."""

    record: RunRecord
    series: Mapping[str, Series]
    contents: Mapping[str, bytes]
    sources: Mapping[str, str]

    def clusters(self, ids: Sequence[str], address: str) -> IntArray | None:
        """Rows of one source sample together, and what `cluster_by` joins; None when each stands for itself."""
        if not ids:
            return None
        joined = _codes(self.sources.get(each, each) for each in ids)
        labels = self.series[address].clusters
        if labels:
            known = {label: code for code, label in enumerate(dict.fromkeys(labels.values()))}
            codes = np.array([known[labels[each]] if each in labels else -1 for each in ids], dtype=np.int32)
            joined = coarsen(joined, TableColumn(codes=codes, distinct=tuple(known)))
        return None if len(np.unique(joined)) == len(ids) else joined


def answer_columns(record: RunRecord) -> set[str]:
    """The columns that hold recorded answers: they differ between runs although the question is the same."""
    spec = orjson.loads(record.spec)
    solver = (spec["task"].get("definition") or {}).get("solver") or {}
    named = {str(solver["trace_column"])} if solver.get("trace_column") else set()
    for _, scorer in _scorers(spec):
        if isinstance(scorer.get("value"), str):
            named |= {use.name for use in columns_read(scorer["value"])}
    return named


def _codes(labels: Iterable[str]) -> IntArray:
    known: dict[str, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)


def measures_of(store: Store, record: RunRecord, registry: Registry) -> dict[str, Measure]:
    """The numbers of a run that are means over samples, by address: `mean`, `weighted_average`, accuracies."""
    spec = orjson.loads(record.spec)
    stored: dict[str, list[tuple[str, str, list[str]]]] = {}
    for scorer, metric, kind, document in runs.metric_documents(store, record.no):
        names = list(orjson.loads(document)["values"])
        stored.setdefault(scorer, []).append((metric, kind, names))
    found: dict[str, Measure] = {}
    for key, node in _scorers(spec):
        entries = _metric_entries(node, registry)
        metrics = stored.get(key, [])
        for place, (metric, kind, names) in enumerate(metrics):
            entry = entries[place] if len(entries) == len(metrics) else None
            if entry is None and kind == "mean":
                entry = {"type": "mean", "field": names[0].removesuffix("_mean")}
            name = next((n for n in names if n == "accuracy"), None) if kind in _ACCURACIES else names[0]
            if entry is None or name is None or kind not in _READERS:
                continue
            address = f"{key}/{metric}/{name}"
            found[address] = _measure(address, key, kind, entry, node, registry)
    return found


def _scorers(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    written = (spec["task"].get("definition") or {}).get("scorers") or []
    for place, key in enumerate(spec["scorers"]):
        node = written[place] if place < len(written) else {}
        yield key, node if isinstance(node, Mapping) else {}


def _metric_entries(node: Mapping[str, Any], registry: Registry) -> list[Mapping[str, Any]]:
    if isinstance(node.get("metrics"), list):
        return list(node["metrics"])
    if node.get("type") not in registry.scorers:
        return []
    # not validated again: its files may be gone, and the metrics it names hang on nothing that could be wrong
    made: Any = registry.scorers[node["type"]].settings.model_construct(**node)
    return list(made.default_metrics())


def _measure(
    address: str, scorer: str, kind: str, entry: Mapping[str, Any], node: Mapping[str, Any], registry: Registry
) -> Measure:
    fields, read, bounds = _READERS[kind](entry)
    if bounds is None and node.get("type") in registry.scorers:
        bounds = registry.scorers[node["type"]].ranges.get(fields[0])
    return Measure(
        address=address,
        scorer=scorer,
        read=read,
        fields=fields,
        bounds=bounds,
        group_by=entry.get("group_by"),
        cluster_by=entry.get("cluster_by"),
        headline=node.get("purpose", "score") == "score",
        labels=_labels(entry, node),
    )


def _labels(entry: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, float]:
    """What labels are worth: by the weights of the metric, or as those that a judge may call correct or not."""
    weights = {str(label): float(weight) for label, weight in (entry.get("weights") or {}).items()}
    sides = ((1.0, node.get("correct_labels")), (0.0, node.get("incorrect_labels")))
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


def as_number(value: Any) -> float | None:
    """A finite number, booleans as 1 and 0; None for anything else.

    >>> as_number(True), as_number("1"), as_number(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, int | float):
        made = float(value)
        return made if math.isfinite(made) else None
    return None


def series_of(
    store: Store, record: RunRecord, measures: Mapping[str, Measure], *, ignored: Collection[str] = ()
) -> RunSeries:
    """Read the samples of a run once: a number a sample and measure, the trials of a sample made one.

    `ignored` columns do not count for the content of a sample.
    """
    if record.summary is None:
        state = runs.state(record)
        raise SpecError(f"run {record.id} is {state} and has no numbers yet: run its file again to finish it")
    definition = orjson.loads(record.spec)["task"].get("definition") or {}
    trials = Trials.model_validate(definition["trials"]) if definition.get("trials") else None
    fanned = bool((definition.get("solver") or {}).get("postprocessor"))
    made = {address: Series(measure) for address, measure in measures.items()}
    contents: dict[str, bytes] = {}
    sources: dict[str, str] = {}
    left_out = _excluded(store, record, definition)
    samples = groupby(evidence_of(store, record), key=lambda entry: entry.sample_id)
    while page := [(sample_id, list(entries)) for sample_id, entries in islice(samples, PAGE)]:
        for sample_id, group in page:
            contents[sample_id] = _digest(group[0].sample, ignored)
            if fanned:
                sources[sample_id] = sample_id.rpartition("/")[0] or sample_id
            for series in made.values():
                if sample_id in left_out:
                    series.failed[sample_id] = "an action of the task excludes it"
                else:
                    _read(series, sample_id, group, trials)
        for series in made.values():
            _label(series, page)
    return RunSeries(record=record, series=made, contents=contents, sources=sources)


def _excluded(store: Store, record: RunRecord, definition: Mapping[str, Any]) -> set[str]:
    """The samples that the task's actions keep out of its numbers, in all their trials."""
    if not definition.get("actions"):
        return set()
    keys = orjson.loads(record.spec)["scorers"]
    # only the scorers' names matter here: which fields they give was checked before the run
    unknown: Any = Kind(settings=ScorerSpec, function=len)
    scorers = (LoadedScorer(key=k, kind=unknown, settings=ScorerSpec(type=k), metrics=(), place=None) for k in keys)
    document = Document(path=Path(record.file), root=Path(), data={}, positions={}, sources={})
    task = Task.model_construct(key=record.task, display_name="", definition=Definition(actions=definition["actions"]))
    loaded = LoadedTask(
        task=task, document=document, dataset=None, solver=None, scorers=tuple(scorers), config={}, resolved={}
    )
    positions = excluded(loaded, store, record.rows_of).positions
    kept: set[str] = set()
    gone: set[str] = set()
    for stored in stored_samples(store, record.rows_of):
        (gone if stored.position in positions else kept).add(stored.sample_id)
    return gone - kept


def _digest(sample: Mapping[str, Any], ignored: Collection[str]) -> bytes:
    kept = {name: value for name, value in sample.items() if name not in ignored}
    text = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.blake2b(text, digest_size=16).digest()


def _read(series: Series, sample_id: str, group: Sequence[Evidence], trials: Trials | None) -> None:
    key = series.measure.scorer
    scores = [entry.scores[key] for entry in group if key in entry.scores]
    if not scores:
        failures = [named.failure for entry in group for named in entry.failures if named.scorer in (None, key)]
        series.failed[sample_id] = failures[0].detail if failures else "it was not scored"
        return
    if trials is None:
        said: Mapping[str, Any] = {**scores[0].metadata, **scores[0].values}
        _read_criteria(series, sample_id, scores[0].values, scores[0].metadata)
    else:
        said = aggregate([score.values for score in scores], trials)
    number = series.measure.read(said)
    if number is None:
        series.failed[sample_id] = f"it has no number in {' and '.join(series.measure.fields)}"
    else:
        series.values[sample_id] = number


def _read_criteria(series: Series, sample_id: str, values: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    votes = metadata.get("votes")
    for name in votes if isinstance(votes, Mapping) else ():
        number = as_number(values.get(name))
        if number is not None:
            series.criteria.setdefault(name, {})[sample_id] = number
            series.options.setdefault(name, {})[str(metadata.get(f"{name}_label"))] = number


def _label(series: Series, page: Sequence[tuple[str, Sequence[Evidence]]]) -> None:
    wanted = [(series.measure.group_by, series.groups), (series.measure.cluster_by, series.clusters)]
    for template, into in wanted:
        if template is None:
            continue
        ids = [sample_id for sample_id, _ in page]
        rows = Rows(positions=range(len(page)), ids=ids, samples=[group[0].sample for _, group in page])
        column = texts(template, rows, stage="metric")
        into |= {
            each: text
            for place, (each, text) in enumerate(zip(ids, column.values, strict=True))
            if place not in column.failures
        }
