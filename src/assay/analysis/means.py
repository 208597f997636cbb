"""Which numbers of a stored run are means over its samples, and how a sample's part of them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.errors import SpecError
from assay.registry import MetricKind, PerSample, Registry
from assay.results.rules import find_addresses, one_address
from assay.spec.nearest import listing
from assay.store import runs
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
    """The numbers of a run that are means over samples, by address: those of metrics that have `per_sample`."""
    spec = orjson.loads(record.spec)
    stored: dict[str, list[tuple[str, str, list[str]]]] = {}
    for scorer, metric, type_name, document in runs.metric_documents(store, record.no):
        names = list(orjson.loads(document)["values"])
        stored.setdefault(scorer, []).append((metric, type_name, names))
    found: dict[str, SampleMean] = {}
    for key, node in _scorers(spec):
        entries = _metric_entries(node, registry)
        metrics = stored.get(key, [])
        for place, (metric, type_name, names) in enumerate(metrics):
            # a metric of a plug-in that is absent cannot be read: nobody knows how a sample enters it
            kind = registry.metrics.get(type_name)
            if kind is None or kind.per_sample is None:
                continue
            entry = entries[place] if len(entries) == len(metrics) else _entry_by_value_name(kind, names[0])
            if entry is None:
                continue
            # not validated again: what was valid in the run may be refused today
            settings: Any = kind.settings.model_construct(**entry)
            per_sample = kind.per_sample(settings)
            name = names[0] if per_sample.value is None else per_sample.value
            if name in names:
                address = f"{key}/{metric}/{name}"
                found[address] = _measure(address, key, per_sample, entry, node, registry)
    return found


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


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any], registry: Registry) -> list[str]:
    """The fields in which two scorers of one key differ; those that only name or sum up what they say are left out."""
    sides = [_settled(node, registry) for node in (before, after)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    return [name for name in names if name not in _BESIDE and sides[0].get(name) != sides[1].get(name)]


_BESIDE = ("key", "display_name", "description", "purpose", "metrics")


def _settled(node: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    """The settings of a scorer with what they are unless given."""
    kind = registry.scorers.get(str(node.get("type")))
    usual = (
        {}
        if kind is None
        else {
            n: field.get_default(call_default_factory=True, validated_data={})
            for n, field in kind.settings.model_fields.items()
        }
    )
    return {**usual, **node}


def scorer_nodes(record: RunRecord) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The scorers of a run as its task declares them, by key; a rubric as it was, wherever it came from."""
    spec = orjson.loads(record.spec)
    sheets = spec.get("sheets") or {}
    for key, node in _scorers(spec):
        yield key, {**node, "rubric": sheets[key]} if key in sheets else node


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
    address: str,
    scorer: str,
    per_sample: PerSample,
    entry: Mapping[str, Any],
    node: Mapping[str, Any],
    registry: Registry,
) -> SampleMean:
    bounds = per_sample.bounds
    if per_sample.is_field and node.get("type") in registry.scorers:
        bounds = registry.scorers[node["type"]].ranges.get(per_sample.fields[0])
    return SampleMean(
        address=address,
        scorer=scorer,
        read=per_sample.read,
        fields=per_sample.fields,
        bounds=bounds,
        group_by=entry.get("group_by"),
        cluster_by=entry.get("cluster_by"),
        headline=node.get("purpose", "score") == "score",
        labels=per_sample.labels or _judge_labels(node),
    )


def _entry_by_value_name(kind: MetricKind, name: str) -> dict[str, Any] | None:
    """The settings of a metric that only its value's name tells of; None when they need more than a field."""
    required = {n for n, f in kind.settings.model_fields.items() if f.is_required()}
    if required != {"type", "field"}:
        return None
    return {"type": kind.name, "field": name.removesuffix(f"_{kind.name}")}


def _judge_labels(node: Mapping[str, Any]) -> dict[str, float]:
    """What the labels of a judge are worth: 1 for those that mean correct, 0 for those that mean incorrect."""
    sides = ((1.0, node.get("correct_labels")), (0.0, node.get("incorrect_labels")))
    return {str(label): worth for worth, labels in sides for label in labels or ()}


def answer_columns(record: RunRecord) -> set[str]:
    """The columns that hold recorded answers: they differ between runs although the question is the same."""
    spec = orjson.loads(record.spec)
    solver = (spec["task"].get("definition") or {}).get("solver") or {}
    named = {str(solver["trace_column"])} if solver.get("trace_column") else set()
    for _, scorer in _scorers(spec):
        if isinstance(scorer.get("value"), str):
            named |= {use.name for use in columns_read(scorer["value"])}
    return named
