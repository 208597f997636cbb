"""The frequency of each value of a field."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.metrics.columns import texts
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.spec.fields import Located, MetricSpec
from assay.stats.interval import ratio
from assay.types import MetricResult


class Frequency(MetricSpec):
    """The share of each distinct value of a field; the shares sum to 1."""

    type: Literal["frequency"]
    field: Located
    simultaneous: bool = False


def frequency(settings: Frequency, table: Table, context: Context) -> MetricResult:
    """Compute the shares, each with an interval; `simultaneous` widens them so that they hold jointly."""
    rows = texts(table, settings.field)
    error = 1 - context.level
    level = 1 - error / max(len(rows.names), 1) if settings.simultaneous else context.level
    ones = np.ones(rows.codes.size)
    values = {
        f"{settings.field}_{name}": ratio(rows.codes == code, ones, rows.clusters, counts=rows.counts, level=level)
        for code, name in enumerate(rows.names)
    }
    return MetricResult(values=values, n_excluded=rows.n_excluded)


KIND = MetricKind(settings=Frequency, compute=frequency)
