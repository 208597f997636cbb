"""The mean of a field."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from assay.metrics.baseline import baselines
from assay.metrics.columns import FieldMetric, as_number, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSample, ScoredRun
from assay.stats import interval
from assay.types import MetricResult

CORRECT, CHOICES, TRUTH = "is_correct", "choices", "ground_truth_choice"
"""The fields of a scorer that says of every sample what there was to choose from, what is right, and whether it was."""


class Mean(FieldMetric):
    """The mean of a field; of 1.0/0.0 values it is the share of ones, such as accuracy."""

    type: Literal["mean"]


def mean(settings: Mean, table: Table, context: Context) -> MetricResult:
    """The mean with the score interval if the field has a declared range or is 0/1, else bootstrap-t."""
    name = settings.value_name("mean")
    rows = numbers(table, settings.field)
    value = interval.mean(
        rows.columns[0],
        rows.clusters,
        counts=rows.counts,
        rng=context.random(name),
        bounds=table.ranges.get(settings.field),
        level=context.level,
    )
    return MetricResult(values={name: value}, n_excluded=rows.n_excluded)


def per_sample(settings: Mean) -> PerSample:
    """The number of the field as it is."""
    name = str(settings.field)
    return PerSample(fields=(name,), read=lambda score: as_number(score.get(name)), is_field=True)


def baseline(settings: Mean, scored: ScoredRun) -> dict[str, Any] | None:
    """What guessing gives where the mean is the share of right choices; None for any other mean."""
    if (scored.score_field or settings.field) != CORRECT or not {CHOICES, TRUTH} <= set(scored.metadata_fields):
        return None
    choices: Counter[int] = Counter()
    truths: Counter[str] = Counter()
    for metadata, n in scored.distinct_metadata():
        choices[len(metadata[CHOICES])] += n
        truths[str(metadata[TRUTH])] += n
    return baselines(choices, truths, chance_over_trials=scored.chance_over_trials)


KIND = MetricKind(settings=Mean, compute=mean, per_sample=per_sample, baseline=baseline)
