"""The mean of a field."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats import interval
from assay.types import MetricResult


class Mean(FieldMetric):
    """The mean of a field; of 1.0/0.0 values it is the share of ones, such as accuracy."""

    type: Literal["mean"]


def mean(settings: Mean, table: Table, context: Context) -> MetricResult:
    """The mean with the score interval if the field has a declared range or is 0/1, else bootstrap-t."""
    name = settings.value_name("mean")
    rows = numbers(table, settings.field)
    value = interval.mean(
        rows.columns[0],
        rows.clusters,
        counts=rows.counts,
        rng=context.random(name),
        bounds=table.ranges.get(settings.field),
        level=context.level,
    )
    return MetricResult(values={name: value}, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=Mean, compute=mean)
