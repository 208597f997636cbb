"""Agreement of two fields beyond chance: Cohen's kappa and the Matthews correlation coefficient."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import classes
from assay.metrics.context import Context
from assay.metrics.sums import class_sums
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.bayes import table_value
from assay.stats.classification import Statistic, kappa, matthews
from assay.types import MetricResult


class CohensKappa(MetricSpec):
    """Agreement of two fields beyond chance: 1 is perfect, 0 is chance."""

    type: Literal["cohens_kappa"]
    field_gt: Located
    field_pred: Located
    name: str | None = None


class MatthewsCorrcoef(MetricSpec):
    """The correlation of ground truth and prediction: 1 is perfect, 0 is chance, -1 is all wrong."""

    type: Literal["matthews_corrcoef"]
    field_gt: Located
    field_pred: Located
    name: str | None = None


_STATISTICS: dict[str, Statistic] = {"cohens_kappa": kappa, "matthews_corrcoef": matthews}


def chance_corrected(settings: CohensKappa | MatthewsCorrcoef, table: Table, context: Context) -> MetricResult:
    """Kappa or MCC of the two fields as text, for two or more classes, with a Bayesian bootstrap interval."""
    name = settings.name or settings.type
    predictions = classes(table, settings.field_gt, settings.field_pred)
    statistic = _STATISTICS[settings.type]
    value = table_value(predictions.pairs, statistic, rng=context.random(name), level=context.level)
    return MetricResult(values={name: value}, n_excluded=predictions.n_excluded)


def sums(settings: CohensKappa | MatthewsCorrcoef) -> PerSampleSums:
    """Return the contribution of a sample to the confusion table."""
    name, statistic = settings.name or settings.type, _STATISTICS[settings.type]
    return class_sums(settings.field_gt, settings.field_pred, lambda _: {name: statistic})


KAPPA = MetricKind(settings=CohensKappa, compute=chance_corrected, sums=sums)
MATTHEWS = MetricKind(settings=MatthewsCorrcoef, compute=chance_corrected, sums=sums)
