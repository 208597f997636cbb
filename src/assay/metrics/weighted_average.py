"""The mean weight of the labels of a field."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from assay.errors import Problem, SpecError
from assay.metrics.columns import FieldMetric, as_number, texts
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSample
from assay.stats import interval
from assay.types import MetricResult

Weight = Annotated[float, Field(allow_inf_nan=False)]
Weights = Annotated[dict[str, Weight], Field(min_length=1)]


class WeightedAverage(FieldMetric):
    """The mean of the weights assigned to the labels."""

    type: Literal["weighted_average"]
    weights: Weights


def weighted_average(settings: WeightedAverage, table: Table, context: Context) -> MetricResult:
    """Compute the mean weight, bounded by the smallest and largest weight. A label without a weight is an error."""
    name = settings.value_name("weighted_average")
    rows = texts(table, settings.field)
    unknown = [label for label in rows.names if label not in settings.weights]
    if unknown:
        raise SpecError([_unknown(label, settings) for label in unknown])
    weights = np.array([settings.weights[label] for label in rows.names], dtype=np.float64)
    value = interval.mean(
        weights[rows.codes],
        rows.clusters,
        counts=rows.counts,
        rng=context.random(name),
        bounds=(min(settings.weights.values()), max(settings.weights.values())),
        level=context.level,
    )
    if value.value is not None and len(set(settings.weights.values())) == 1:
        # 0 and 1 would pass for shares, whose interval says where a share may lie; this number cannot move.
        value = replace(value, interval=interval.no_interval("all weights are equal: the value cannot vary"))
    return MetricResult(values={name: value}, n_excluded=rows.n_excluded)


def _unknown(label: str, settings: WeightedAverage) -> Problem:
    suggestions = difflib.get_close_matches(label, settings.weights, n=1)
    return Problem(
        message=f'the label "{label}" of the field "{settings.field}" has no weight',
        place=settings.field.place,
        suggestion=suggestions[0] if suggestions else None,
    )


def per_sample(settings: WeightedAverage) -> PerSample:
    """The weight of the sample's label; a label without one is excluded."""
    name, weights = str(settings.field), settings.weights

    def read(score: Mapping[str, Any]) -> float | None:
        return None if score.get(name) is None else as_number(weights.get(str(score[name])))

    return PerSample(
        fields=(name,),
        read=read,
        bounds=(min(weights.values()), max(weights.values())),
        labels={str(label): float(weight) for label, weight in weights.items()},
    )


KIND = MetricKind(settings=WeightedAverage, compute=weighted_average, per_sample=per_sample)
