"""Scorers, metrics and solvers of a task, each validated alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from assay.registry import K, KindTable, Registry
from assay.spec.bound import LoadedMetric, LoadedScorer, LoadedSolver
from assay.spec.document import Steps
from assay.spec.fields import MetricSpec, ScorerSpec, SolverSpec
from assay.spec.known import no_such_type, offered
from assay.spec.locate import Checker
from assay.spec.messages import described
from assay.spec.nearest import listing, nearest
from assay.spec.placeholder import has_placeholder
from assay.types import OTHER_NAMES


def load_solver(node: Any, steps: Steps, registry: Registry, checker: Checker) -> LoadedSolver | None:
    """The solver, or None and its problems noted."""
    kind = kind_named(registry.solvers, node, steps, checker)
    settings = kind and checker.validated(kind.settings, node, steps, kind.name)
    if kind is None or settings is None:
        return None
    place = checker.document.spot(steps).value
    return LoadedSolver(kind=kind, settings=cast("SolverSpec", settings), place=place)


def load_scorers(
    nodes: Sequence[Any], steps: Steps, registry: Registry, checker: Checker, renamed: Sequence[str] = ()
) -> list[LoadedScorer]:
    """Load the valid scorers and report the problems of the others. Trials add values under `renamed`."""
    keys = numbered(nodes, steps, checker, "scorer")
    scorers = (
        _scorer(node, key, (*steps, i), registry, checker, renamed)
        for i, (node, key) in enumerate(zip(nodes, keys, strict=True))
    )
    return [scorer for scorer in scorers if scorer is not None]


def kind_named(shelf: KindTable[K], node: Any, steps: Steps, checker: Checker) -> K | None:
    """The kind that a mapping names by `type`, or None and the problem noted."""
    if not isinstance(node, dict):
        checker.report(f"expected a {shelf.sort}, such as {{type: ...}}, got {described(node)}", steps)
        return None
    name = node.get("type")
    if isinstance(name, str) and name in shelf:
        return shelf[str(name)]
    if name is None:
        types = listing(offered(shelf), most=40)
        misspelled = nearest("type", [field for field in node if field not in ("key", "metrics")])
        if misspelled is not None and "type" not in node:
            checker.report(f'unknown field "{misspelled}" in the {shelf.sort}', (*steps, misspelled), "type", key=True)
        else:
            checker.report(f'missing field "type" in the {shelf.sort}; known: {types}', steps)
    elif not isinstance(name, str):
        checker.report(f"type: expected text, got {described(name)}", (*steps, "type"))
    elif not has_placeholder(name):
        message, suggestion = no_such_type(shelf, name)
        checker.report(message, (*steps, "type"), suggestion)
    return None


def numbered(nodes: Sequence[Any], steps: Steps, checker: Checker, sort: str) -> list[str]:
    """Assign a key to every entry: its own, else its type, numbered when repeated."""
    explicit: dict[str, int] = {}
    for i, node in enumerate(nodes):
        key = _text(node, "key")
        if key is not None and key in explicit:
            checker.report(f'there is already a {sort} with the key "{key}"', (*steps, i, "key"))
        elif key is not None:
            explicit[key] = i
    taken = set(explicit)
    keys: list[str] = []
    for node in nodes:
        explicit_key = _text(node, "key")
        keys.append(explicit_key if explicit_key is not None else _free(_text(node, "type") or sort, taken))
        taken.add(keys[-1])
    return keys


def _free(name: str, taken: set[str]) -> str:
    candidate, n = name, 1
    while candidate in taken:
        n += 1
        candidate = f"{name}_{n}"
    return candidate


def _text(node: Any, name: str) -> str | None:
    value = node.get(name) if isinstance(node, dict) else None
    return str(value) if isinstance(value, str) else None


def _scorer(
    node: Any, key: str, steps: Steps, registry: Registry, checker: Checker, renamed: Sequence[str]
) -> LoadedScorer | None:
    kind = kind_named(registry.scorers, node, steps, checker)
    metric_nodes = node.get("metrics") if isinstance(node, dict) else None
    entries = metric_nodes if isinstance(metric_nodes, list) else []
    settings = cast("ScorerSpec | None", kind and checker.validated(kind.settings, node, steps, kind.name))
    if settings is not None and settings.metrics is None:
        entries = settings.default_metrics()
    fields = None if settings is None else settings.score_fields()
    if fields is None and kind is not None and kind.values is not None:
        fields = (*kind.values, *kind.metadata)
    score_fields = None if kind is None or fields is None else _ScoreFields(kind.name, (*fields, *renamed))
    metrics = tuple(_metrics(entries, (*steps, "metrics"), score_fields, registry, checker))
    if kind is None or settings is None:
        return None
    place = checker.document.spot(steps).value
    return LoadedScorer(key=key, kind=kind, settings=settings, metrics=metrics, place=place)


class _ScoreFields(NamedTuple):
    """The known fields of a scorer."""

    scorer: str
    fields: tuple[str, ...]


def _metrics(
    nodes: Sequence[Any], steps: Steps, score_fields: _ScoreFields | None, registry: Registry, checker: Checker
) -> Iterable[LoadedMetric]:
    keys = numbered(nodes, steps, checker, "metric")
    for i, (node, key) in enumerate(zip(nodes, keys, strict=True)):
        kind = kind_named(registry.metrics, node, (*steps, i), checker)
        settings = kind and checker.validated(kind.settings, node, (*steps, i), kind.name)
        if kind is None or settings is None:
            continue
        metric = cast("MetricSpec", settings)
        if score_fields is not None:
            metric = metric.model_copy(update=_other_names(metric, score_fields.fields))
        if score_fields is None or _fields_exist(metric, score_fields, (*steps, i), checker):
            yield LoadedMetric(key=key, kind=kind, settings=metric)


def _other_names(settings: Any, fields: Sequence[str]) -> dict[str, str]:
    """Return our names of fields that a metric reads by an alias, by the settings that contain them."""
    return {
        name: OTHER_NAMES[value]
        for name, value in _fields_read(settings).items()
        if value not in fields and OTHER_NAMES.get(value) in fields
    }


def _fields_exist(settings: Any, score_fields: _ScoreFields, steps: Steps, checker: Checker) -> bool:
    """Check that the scorer produces every field that the metric reads; suggest the nearest name otherwise."""
    fields = score_fields.fields
    wrong = [
        (name, value)
        for name, value in _fields_read(settings).items()
        if value not in fields and not has_placeholder(value)
    ]
    for name, value in wrong:
        message = f'{score_fields.scorer} produces no field "{value}"; it produces {listing(fields)}'
        checker.report(message, (*steps, name), nearest(value, fields))
    return not wrong


def _fields_read(settings: Any) -> Mapping[str, str]:
    named = (n for n in type(settings).model_fields if n == "field" or n.startswith("field_") or n.endswith("_field"))
    values = {name: getattr(settings, name) for name in named}
    return {name: value for name, value in values.items() if isinstance(value, str)}
