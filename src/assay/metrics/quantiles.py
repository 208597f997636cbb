"""The median and other percentiles of a field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.stats import spread
from assay.types import MetricResult


class Median(FieldMetric):
    """The value with as many samples below it as above."""

    type: Literal["median"]


class Percentile(FieldMetric):
    """The value that `q` percent of the samples stay below."""

    type: Literal["percentile"]
    q: Annotated[float, Field(ge=0, le=100)]


def quantile(settings: Median | Percentile, table: Table, context: Context) -> MetricResult:
    """The quantile, linear between values, with the order statistics that enclose it."""
    share, name = (0.5, "median") if isinstance(settings, Median) else (settings.q / 100, f"p{settings.q:g}")
    rows = numbers(table, settings.field)
    value = spread.quantile(rows.columns[0], share, rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.value_name(name): value}, n_excluded=rows.n_excluded)


MEDIAN = MetricKind(settings=Median, compute=quantile)
PERCENTILE = MetricKind(settings=Percentile, compute=quantile)
