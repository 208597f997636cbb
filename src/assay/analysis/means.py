"""Which numbers of a stored run are means over its samples, and how a sample's part of them is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from assay.errors import SpecError
from assay.interop.numbers import as_number
from assay.registry import Registry
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
    """The numbers of a run that are means over samples, by address: `mean`, `weighted_average`, accuracies."""
    spec = orjson.loads(record.spec)
    stored: dict[str, list[tuple[str, str, list[str]]]] = {}
    for scorer, metric, kind, document in runs.metric_documents(store, record.no):
        names = list(orjson.loads(document)["values"])
        stored.setdefault(scorer, []).append((metric, kind, names))
    found: dict[str, SampleMean] = {}
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
    address: str, scorer: str, kind: str, entry: Mapping[str, Any], node: Mapping[str, Any], registry: Registry
) -> SampleMean:
    fields, read, bounds = _READERS[kind](entry)
    if bounds is None and node.get("type") in registry.scorers:
        bounds = registry.scorers[node["type"]].ranges.get(fields[0])
    return SampleMean(
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


def answer_columns(record: RunRecord) -> set[str]:
    """The columns that hold recorded answers: they differ between runs although the question is the same."""
    spec = orjson.loads(record.spec)
    solver = (spec["task"].get("definition") or {}).get("solver") or {}
    named = {str(solver["trace_column"])} if solver.get("trace_column") else set()
    for _, scorer in _scorers(spec):
        if isinstance(scorer.get("value"), str):
            named |= {use.name for use in columns_read(scorer["value"])}
    return named
