"""Precision of counts."""

from __future__ import annotations

from typing import Literal

from assay.metrics.context import Context
from assay.metrics.counts import counts
from assay.metrics.sums import count_sums, share
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.interval import rate
from assay.types import MetricResult


class Precision(MetricSpec):
    """The share of what was found that is right, counts summed over samples."""

    type: Literal["precision"]
    num_true_positives_field: Located
    num_false_positives_field: Located
    name: str | None = None


def precision(settings: Precision, table: Table, context: Context) -> MetricResult:
    """TP / (TP + FP) of the sums; a sample with many counts is one observation, not many."""
    rows = counts(table, settings.num_true_positives_field, settings.num_false_positives_field)
    hits, other = rows.columns
    undefined = "nothing was found (TP + FP = 0)"
    value = rate(hits, hits + other, rows.clusters, counts=rows.counts, level=context.level, undefined=undefined)
    return MetricResult(values={settings.name or "precision": value}, n_excluded=rows.n_excluded)


def sums(settings: Precision) -> PerSampleSums:
    """What a sample adds to the counts of hits and false alarms."""
    fields = (settings.num_true_positives_field, settings.num_false_positives_field)
    return count_sums(fields, lambda sums: share(sums[..., 0], sums[..., 0] + sums[..., 1]))


KIND = MetricKind(settings=Precision, compute=precision, sums=sums)
