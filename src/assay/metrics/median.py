"""The median of a field."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats import spread
from assay.types import MetricResult


class Median(FieldMetric):
    """The value with as many samples below it as above."""

    type: Literal["median"]


def median(settings: Median, table: Table, context: Context) -> MetricResult:
    """The median with the order statistics that enclose it."""
    rows = numbers(table, settings.field)
    value = spread.quantile(rows.columns[0], 0.5, rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.value_name("median"): value}, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=Median, compute=median)
