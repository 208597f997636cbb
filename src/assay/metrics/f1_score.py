"""F1 of counts."""

from __future__ import annotations

from typing import Literal

from assay.metrics.context import Context
from assay.metrics.counts import counts
from assay.metrics.sums import count_sums, share
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.interval import f1
from assay.types import MetricResult


class F1Score(MetricSpec):
    """2 TP / (2 TP + FP + FN), counts summed over samples."""

    type: Literal["f1_score"]
    num_true_positives_field: Located
    num_false_negatives_field: Located
    num_false_positives_field: Located
    name: str | None = None


def f1_score(settings: F1Score, table: Table, context: Context) -> MetricResult:
    """F1 of the sums; a sample with many counts is one observation, not many."""
    rows = counts(
        table,
        settings.num_true_positives_field,
        settings.num_false_positives_field,
        settings.num_false_negatives_field,
    )
    tp, fp, fn = rows.columns
    value = f1(tp, fp, fn, rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.name or "f1_score": value}, n_excluded=rows.n_excluded)


def sums(settings: F1Score) -> PerSampleSums:
    """What a sample adds to the counts of hits, false alarms and misses."""
    fields = (
        settings.num_true_positives_field,
        settings.num_false_positives_field,
        settings.num_false_negatives_field,
    )
    return count_sums(fields, lambda sums: share(2 * sums[..., 0], 2 * sums[..., 0] + sums[..., 1] + sums[..., 2]))


KIND = MetricKind(settings=F1Score, compute=f1_score, sums=sums)
