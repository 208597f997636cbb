"""Precision, recall and F1 of counts: every sample has its numbers of hits, misses and false alarms."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.metrics.columns import Numbers, check, numbers
from assay.metrics.context import Context
from assay.metrics.sums import count_sums, share
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.interval import f1, rate
from assay.types import MetricResult


class Precision(MetricSpec):
    """The share of predicted items that are right, with counts summed over samples."""

    type: Literal["precision"]
    num_true_positives_field: Located
    num_false_positives_field: Located
    name: str | None = None

    @property
    def fields(self) -> tuple[Located, Located]:
        """The counts of hits and false alarms."""
        return self.num_true_positives_field, self.num_false_positives_field


class Recall(MetricSpec):
    """The share of expected items that were predicted, with counts summed over samples."""

    type: Literal["recall"]
    num_true_positives_field: Located
    num_false_negatives_field: Located
    name: str | None = None

    @property
    def fields(self) -> tuple[Located, Located]:
        """The counts of hits and misses."""
        return self.num_true_positives_field, self.num_false_negatives_field


class F1Score(MetricSpec):
    """2 TP / (2 TP + FP + FN), counts summed over samples."""

    type: Literal["f1_score"]
    num_true_positives_field: Located
    num_false_negatives_field: Located
    num_false_positives_field: Located
    name: str | None = None

    @property
    def fields(self) -> tuple[Located, Located, Located]:
        """The counts of hits, false alarms and misses."""
        return self.num_true_positives_field, self.num_false_positives_field, self.num_false_negatives_field


_UNDEFINED = {
    "precision": "nothing was found (TP + FP = 0)",
    "recall": "there was nothing to find (TP + FN = 0)",
}


def counts(table: Table, *fields: str) -> Numbers:
    """The counts of the samples that have all of them; a negative one is an error."""
    rows = numbers(table, *fields)
    for field, column in zip(fields, rows.columns, strict=True):
        lowest = float(np.min(column, initial=0.0))
        check(lowest >= 0, f'the field "{field}" counts something, but holds {lowest:g}', field)
    return rows


def hit_rate(settings: Precision | Recall, table: Table, context: Context) -> MetricResult:
    """TP / (TP + FP) or TP / (TP + FN) of the sums; a sample with many counts is one observation, not many."""
    rows = counts(table, *settings.fields)
    hits, other = rows.columns
    undefined = _UNDEFINED[settings.type]
    value = rate(hits, hits + other, rows.clusters, counts=rows.counts, level=context.level, undefined=undefined)
    return MetricResult(values={settings.name or settings.type: value}, n_excluded=rows.n_excluded)


def hit_rate_sums(settings: Precision | Recall) -> PerSampleSums:
    """Return the contribution of a sample to the counts of hits and of false alarms or misses."""
    return count_sums(settings.fields, lambda sums: share(sums[..., 0], sums[..., 0] + sums[..., 1]))


def f1_score(settings: F1Score, table: Table, context: Context) -> MetricResult:
    """F1 of the sums; a sample with many counts is one observation, not many."""
    rows = counts(table, *settings.fields)
    tp, fp, fn = rows.columns
    value = f1(tp, fp, fn, rows.clusters, counts=rows.counts, level=context.level)
    return MetricResult(values={settings.name or "f1_score": value}, n_excluded=rows.n_excluded)


def f1_sums(settings: F1Score) -> PerSampleSums:
    """Return the contribution of a sample to the counts of hits, false alarms and misses."""
    return count_sums(
        settings.fields, lambda sums: share(2 * sums[..., 0], 2 * sums[..., 0] + sums[..., 1] + sums[..., 2])
    )


PRECISION = MetricKind(settings=Precision, compute=hit_rate, sums=hit_rate_sums)
RECALL = MetricKind(settings=Recall, compute=hit_rate, sums=hit_rate_sums)
F1_SCORE = MetricKind(settings=F1Score, compute=f1_score, sums=f1_sums)
