"""A percentile of a field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats import spread
from assay.types import MetricResult


class Percentile(FieldMetric):
    """The value that `q` percent of the samples stay below."""

    type: Literal["percentile"]
    q: Annotated[float, Field(ge=0, le=100)]


def percentile(settings: Percentile, table: Table, context: Context) -> MetricResult:
    """The percentile, linear between values, with the order statistics that enclose it."""
    rows = numbers(table, settings.field)
    value = spread.quantile(rows.columns[0], settings.q / 100, rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.value_name(f"p{settings.q:g}"): value}, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=Percentile, compute=percentile)
