"""The Matthews correlation coefficient."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import classes
from assay.metrics.context import Context
from assay.metrics.sums import class_sums
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.bayes import table_value
from assay.stats.classification import matthews
from assay.types import MetricResult


class MatthewsCorrcoef(MetricSpec):
    """The correlation of truth and prediction: 1 is perfect, 0 is chance, -1 is all wrong."""

    type: Literal["matthews_corrcoef"]
    field_gt: Located
    field_pred: Located
    name: str | None = None


def matthews_corrcoef(settings: MatthewsCorrcoef, table: Table, context: Context) -> MetricResult:
    """MCC of the two fields as text, for two or more classes, with a Bayesian bootstrap interval."""
    name = settings.name or "matthews_corrcoef"
    found = classes(table, settings.field_gt, settings.field_pred)
    value = table_value(found.pairs, matthews, rng=context.random(name), level=context.level)
    return MetricResult(values={name: value}, n_excluded=found.n_excluded)


def sums(settings: MatthewsCorrcoef) -> PerSampleSums:
    """What a sample adds to the confusion table."""
    name = settings.name or "matthews_corrcoef"
    return class_sums(settings.field_gt, settings.field_pred, lambda _: {name: matthews})


KIND = MetricKind(settings=MatthewsCorrcoef, compute=matthews_corrcoef, sums=sums)
