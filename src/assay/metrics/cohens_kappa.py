"""Cohen's kappa."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import classes
from assay.metrics.context import Context
from assay.metrics.sums import class_sums
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSampleSums
from assay.spec.fields import Located, MetricSpec
from assay.stats.bayes import table_value
from assay.stats.classification import kappa
from assay.types import MetricResult


class CohensKappa(MetricSpec):
    """Agreement of two fields beyond chance: 1 is perfect, 0 is chance."""

    type: Literal["cohens_kappa"]
    field_gt: Located
    field_pred: Located
    name: str | None = None


def cohens_kappa(settings: CohensKappa, table: Table, context: Context) -> MetricResult:
    """Kappa of the two fields as text, with a Bayesian bootstrap interval."""
    name = settings.name or "cohens_kappa"
    found = classes(table, settings.field_gt, settings.field_pred)
    value = table_value(found.pairs, kappa, rng=context.random(name), level=context.level)
    return MetricResult(values={name: value}, n_excluded=found.n_excluded)


def sums(settings: CohensKappa) -> PerSampleSums:
    """What a sample adds to the confusion table."""
    name = settings.name or "cohens_kappa"
    return class_sums(settings.field_gt, settings.field_pred, lambda _: {name: kappa})


KIND = MetricKind(settings=CohensKappa, compute=cohens_kappa, sums=sums)
