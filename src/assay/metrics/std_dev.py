"""The standard deviation of a field."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats import spread
from assay.types import MetricResult


class StdDev(FieldMetric):
    """The sample standard deviation of a field (divided by n - 1); undefined for fewer than 2 values."""

    type: Literal["std_dev"]


def std_dev(settings: StdDev, table: Table, context: Context) -> MetricResult:
    """Compute the standard deviation from sample to sample; it does not shrink with more samples."""
    rows = numbers(table, settings.field)
    value = spread.std_dev(rows.columns[0], rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.value_name("std_dev"): value}, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=StdDev, compute=std_dev)
