"""The smallest value of a field."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats.interval import no_interval
from assay.types import MetricResult, MetricValue


class Minimum(FieldMetric):
    """The smallest value of a field."""

    type: Literal["min"]


def minimum(settings: Minimum, table: Table, context: Context) -> MetricResult:
    """The smallest value; it has no interval, since more samples can only move it one way."""
    rows = numbers(table, settings.field)
    (values,) = rows.columns
    if values.size:
        interval = no_interval("no interval for a minimum", level=context.level)
        value = MetricValue(value=float(values.min()), n=table.n - rows.n_excluded, interval=interval)
    else:
        value = MetricValue(value=None, n=0, reason="no sample has a value")
    return MetricResult(values={settings.value_name("min"): value}, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=Minimum, compute=minimum)
