"""Find the metrics of a stored run that are means over its samples, and how each sample contributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.errors import SpecError
from assay.judging.outcome import metric_key
from assay.prepare.describe import completed
from assay.registry import MetricKind, PerSample, PerSampleSums, Registry
from assay.results.rules import find_addresses, one_address
from assay.spec.nearest import listing
from assay.spec.task import Trials
from assay.store import runs
from assay.store.run_spec import StoredScorer
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.summary.trials import ranges_of
from assay.templates import columns_read

Read = Callable[[Mapping[str, Any]], Any | None]
"""A sample's part of a mean or of a sum, from the values and details of its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMean:
    """A metric of a run that is a mean over its samples; `labels` has the value of each declared label.

    With `sums` it is no mean but another function of sums over the samples, such as F1, and `value` is its name. With
    `macro_by` it is the mean of the means of the groups that this template names.
    """

    address: str
    scorer: str
    read: Read
    fields: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    group_by: str | None = None
    cluster_by: str | None = None
    macro_by: str | None = None
    headline: bool = True
    labels: Mapping[str, float] = field(default_factory=dict)
    sums: PerSampleSums | None = None
    value: str = ""


def sample_means(store: Store, record: RunRecord, registry: Registry) -> dict[str, SampleMean]:
    """The metrics of a run that are plain means over samples, by address."""
    measures = sample_measures(store, record, registry)
    return {address: mean for address, mean in measures.items() if mean.sums is None and mean.macro_by is None}


def sample_measures(store: Store, record: RunRecord, registry: Registry) -> dict[str, SampleMean]:
    """The metrics of a run on which runs can be compared, by address: means, then functions of sums over samples."""
    means: dict[str, SampleMean] = {}
    others: dict[str, SampleMean] = {}
    stored: dict[str, list[tuple[str, str, list[str]]]] = {}
    for scorer_key, metric, type_name, document in runs.metric_documents(store, record.no):
        names = list(orjson.loads(document)["values"])
        stored.setdefault(scorer_key, []).append((metric, type_name, names))
    for scorer in completed(record.spec, registry).scorers:
        metrics = stored.get(scorer.key, [])
        for place, (metric, type_name, names) in enumerate(metrics):
            # a metric of a plug-in that is absent cannot be read: nobody knows how a sample enters it
            kind = registry.metrics.get(type_name)
            if kind is None or (kind.per_sample is None and kind.sums is None):
                continue
            stated = len(scorer.metrics) == len(metrics)
            entry = scorer.metrics[place].settings if stated else _entry_by_value_name(kind, names[0])
            if entry is None:
                continue
            # not validated again: what was valid in the run may be refused today
            settings: Any = kind.settings.model_construct(**entry)
            mean: str | None = None
            if kind.per_sample is not None:
                per_sample = kind.per_sample(settings)
                mean = names[0] if per_sample.value is None else per_sample.value
                if mean in names:
                    address = f"{scorer.key}/{metric}/{mean}"
                    means[address] = _sample_mean(address, scorer, per_sample, entry, record.spec.trials)
            if kind.sums is not None:
                addresses = {f"{scorer.key}/{metric}/{name}": name for name in names if name != mean}
                others |= _sample_sums(addresses, scorer, kind.sums(settings), entry)
    return means | others


def one_mean(
    store: Store, records: Iterable[RunRecord], measures: Iterable[str], name: str, *, use: str = "compared"
) -> str:
    """Return the mean that a name refers to; a SpecError explains a metric that is not a mean."""
    addresses = list(measures)
    if not find_addresses(addresses, name):
        every = dict.fromkeys(address for record in records for address in _addresses(store, record))
        elsewhere = find_addresses(every, name)
        if elsewhere:
            raise SpecError(
                f'"{name}" exists ({listing(elsewhere)}), but not in every run as a metric that can be {use} sample by '
                f"sample; what can: {listing(addresses)}"
            )
    return one_address(addresses, name)


def _addresses(store: Store, record: RunRecord) -> Iterator[str]:
    """Return the addresses of all metrics of a run."""
    for scorer, metric, _, document in runs.metric_documents(store, record.no):
        yield from (f"{scorer}/{metric}/{name}" for name in orjson.loads(document)["values"])


def _sample_mean(
    address: str, scorer: StoredScorer, per_sample: PerSample, metric: Mapping[str, Any], trials: Trials | None
) -> SampleMean:
    ranges = ranges_of(scorer.ranges, trials)
    bounds = ranges.get(per_sample.fields[0]) if per_sample.is_field else per_sample.bounds
    return SampleMean(
        address=address,
        scorer=scorer.key,
        read=per_sample.read,
        fields=per_sample.fields,
        bounds=bounds,
        group_by=metric.get("group_by"),
        cluster_by=metric.get("cluster_by"),
        # the comparison of a rubric's score lists the criteria: their own means wait until they are asked for
        headline=scorer.purpose == "score" and address.split("/")[1] != metric_key(per_sample.fields[0]),
        macro_by=per_sample.macro_by,
        labels=per_sample.labels or _judge_labels(scorer.settings),
    )


def _sample_sums(
    addresses: Mapping[str, str], scorer: StoredScorer, sums: PerSampleSums, metric: Mapping[str, Any]
) -> dict[str, SampleMean]:
    """The values of a metric that are functions of sums over samples, by address."""
    return {
        address: SampleMean(
            address=address,
            scorer=scorer.key,
            read=sums.read,
            fields=sums.fields,
            group_by=metric.get("group_by"),
            cluster_by=metric.get("cluster_by"),
            headline=scorer.purpose == "score",
            sums=sums,
            value=name,
        )
        for address, name in addresses.items()
    }


def _entry_by_value_name(kind: MetricKind, name: str) -> dict[str, Any] | None:
    """The settings of a metric that only its value's name tells of; None when they need more than a field."""
    required = {n for n, f in kind.settings.model_fields.items() if f.is_required()}
    if required != {"type", "field"}:
        return None
    return {"type": kind.name, "field": name.removesuffix(f"_{kind.name}")}


def _judge_labels(settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the values of a judge's labels: 1 for correct labels, 0 for incorrect ones."""
    sides = ((1.0, settings.get("correct_labels")), (0.0, settings.get("incorrect_labels")))
    return {str(label): worth for worth, labels in sides for label in labels or ()}


def answer_columns(record: RunRecord) -> set[str]:
    """Return the columns with recorded answers, which differ between runs of the same questions."""
    spec = record.spec
    named = set() if spec.answer_column is None else {spec.answer_column}
    for scorer in spec.scorers:
        value = scorer.settings.get("value")
        if isinstance(value, str):
            named |= {use.name for use in columns_read(value)}
    return named
