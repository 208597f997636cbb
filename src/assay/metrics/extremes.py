"""The largest and the smallest value of a field."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats.interval import no_interval
from assay.types import MetricResult, MetricValue


class Maximum(FieldMetric):
    """The largest value of a field."""

    type: Literal["max"]


class Minimum(FieldMetric):
    """The smallest value of a field."""

    type: Literal["min"]


def extreme(settings: Maximum | Minimum, table: Table, context: Context) -> MetricResult:
    """Return the largest or smallest value; it has no interval, since more samples can only move it one way."""
    rows = numbers(table, settings.field)
    (values,) = rows.columns
    if values.size:
        largest = isinstance(settings, Maximum)
        word = "maximum" if largest else "minimum"
        value = MetricValue(
            value=float(values.max() if largest else values.min()),
            n=table.n - rows.n_excluded,
            interval=no_interval(f"no interval for a {word}", level=context.level),
        )
    else:
        value = MetricValue(value=None, n=0, reason="no sample has a value")
    return MetricResult(values={settings.value_name(settings.type): value}, n_excluded=rows.n_excluded)


MAXIMUM = MetricKind(settings=Maximum, compute=extreme)
MINIMUM = MetricKind(settings=Minimum, compute=extreme)
