"""The Brier score."""

from __future__ import annotations

from typing import Literal

from assay.metrics.columns import check, numbers
from assay.metrics.context import Context
from assay.metrics.table import FloatArray, Table
from assay.registry import MetricKind
from assay.spec.fields import Located, MetricSpec
from assay.stats import interval
from assay.types import MetricResult


class Brier(MetricSpec):
    """The mean squared distance of a probability from what came true: 0 is perfect, lower is better."""

    type: Literal["brier"]
    field_prob: Located
    field_gt: Located
    name: str | None = None


def brier(settings: Brier, table: Table, context: Context) -> MetricResult:
    """Compute the mean of (probability - ground truth)^2; the ground truth is 1 or 0, true or false."""
    name = settings.name or "brier"
    rows = numbers(table, settings.field_prob, settings.field_gt)
    probability, truth = rows.columns
    odd_truth = truth[(truth != 0) & (truth != 1)]
    odd = probability[(probability < 0) | (probability > 1)]
    check(not odd_truth.size, _message(settings.field_gt, "0, 1, true or false", odd_truth), settings.field_gt)
    check(not odd.size, _message(settings.field_prob, "probabilities", odd), settings.field_prob)
    value = interval.mean(
        (probability - truth) ** 2,
        rows.clusters,
        counts=rows.counts,
        rng=context.random(name),
        bounds=(0.0, 1.0),
        level=context.level,
    )
    return MetricResult(values={name: value}, n_excluded=rows.n_excluded)


def _message(field: str, expected: str, odd: FloatArray) -> str:
    example = f"{odd.min():g}" if odd.size else ""
    return f'the field "{field}" must hold {expected}, but holds {example}'


KIND = MetricKind(settings=Brier, compute=brier)
