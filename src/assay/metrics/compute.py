"""Run a metric on a table: check its fields, coarsen the clusters, and do the same for each group."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import Problem, SpecError
from assay.metrics.context import Context
from assay.metrics.table import IntArray, Table, TableColumn
from assay.types import MetricResult, MetricValue

if TYPE_CHECKING:
    from assay.registry import MetricKind
    from assay.spec.fields import MetricSpec

NOTHING_SCORED = "no sample was scored"


def fields_of(settings: MetricSpec) -> dict[str, str]:
    """The score fields that a metric reads, by the name of the setting.

    These are the settings `field`, `field_...` and `..._field`: a metric that follows the naming is found.
    """
    return {
        name: value
        for name in type(settings).model_fields
        if (name == "field" or name.startswith("field_") or name.endswith("_field"))
        and isinstance(value := getattr(settings, name), str)
    }


def labels_of(settings: MetricSpec) -> list[str]:
    """The templates whose text sorts the samples of a metric into groups and clusters.

    These are the settings `..._by`: a metric that follows the naming is found.
    """
    sources = (getattr(settings, name) for name in type(settings).model_fields if name.endswith("_by"))
    return [source for source in sources if source is not None]


def compute(
    kind: MetricKind, settings: MetricSpec, table: Table, *, seed: int, address: str, level: float = 0.95
) -> MetricResult:
    """The values of a metric, each with its interval; `address` is `scorer/metric`.

    An empty table gives every value that has a name as None; a field that no sample has is an error.
    """
    context = Context(seed=seed, address=address, level=level)
    if table.n == 0:
        return undefined(kind, settings, context, n=0, reason=NOTHING_SCORED)
    problems = list(_problems(settings, table))
    if problems:
        raise SpecError(problems)
    if settings.cluster_by is not None:
        table = replace(table, clusters=coarsen(table.clusters, table.labels[settings.cluster_by]))
    result: MetricResult = kind.compute(settings, table, context)
    if settings.group_by is None:
        return result
    return replace(result, groups=_groups(kind, settings, table, context))


def undefined(kind: MetricKind, settings: MetricSpec, context: Context, *, n: int, reason: str) -> MetricResult:
    """Every value of a metric that has a name, as undefined for one reason."""
    nothing = TableColumn(codes=np.zeros(0, dtype=np.int32))
    empty = Table(n=0, columns=dict.fromkeys(fields_of(settings).values(), nothing))
    result: MetricResult = kind.compute(settings, empty, context)
    values = {name: MetricValue(value=None, n=n, reason=reason) for name in result.values}
    return replace(result, values=values, groups=None if settings.group_by is None else {})


def _problems(settings: MetricSpec, table: Table) -> Iterator[Problem]:
    for name in fields_of(settings).values():
        # a declared field may have no value: a criterion that no judge could assess
        if name not in table.seen and name not in table.ranges:
            suggestions = difflib.get_close_matches(name, table.seen, n=1)
            yield Problem(
                message=f'no sample has the field "{name}"; there are: {", ".join(table.seen) or "none"}',
                place=getattr(name, "place", None),
                suggestion=suggestions[0] if suggestions else None,
            )


def _groups(
    kind: MetricKind, settings: MetricSpec, table: Table, context: Context
) -> Mapping[str, Mapping[str, MetricValue]]:
    assert settings.group_by is not None
    codes, names = table.labels[settings.group_by].texts()
    return {
        name: kind.compute(settings, table.take(codes == code), context.group(name)).values
        for code, name in enumerate(names)
    }


def coarsen(clusters: IntArray | None, label: TableColumn) -> IntArray:
    """Clusters joined where rows share a label; a row without a label stays in the cluster it has.

    Clusters of the source samples are never split: rows that are linked by either end up together.
    """
    codes, names = label.texts()
    rows = len(codes)
    own_cluster = np.arange(rows) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    shared = np.where(codes >= 0, codes, len(names) + own_cluster)
    joined = own_cluster.astype(np.int64)
    # a label may link clusters that another label links further: repeat until nothing changes
    while True:
        before = joined
        for linked in (shared, own_cluster):
            lowest = np.full(int(linked.max()) + 1, rows, dtype=np.int64)
            np.minimum.at(lowest, linked, joined)
            joined = lowest[linked]
        if np.array_equal(before, joined):
            return joined
