"""The mean of a field."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np

from assay.metrics.baseline import baselines
from assay.metrics.columns import FieldMetric, as_number, numbers
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSample, ScoredRun
from assay.spec.fields import Template
from assay.stats import interval
from assay.stats.macro import macro_mean
from assay.types import MetricResult

CORRECT, CHOICES, TRUTH = "is_correct", "choices", "ground_truth_choice"
"""The fields of a scorer that reports the choices, the right choice and the result of every sample."""


class Mean(FieldMetric):
    """The mean of a field; of 1.0/0.0 values it is the share of ones, such as accuracy."""

    type: Literal["mean"]
    macro_by: Template | None = None


def mean(settings: Mean, table: Table, context: Context) -> MetricResult:
    """The mean with the score interval if the field has a declared range or is 0/1, else bootstrap-t."""
    name = settings.value_name("mean")
    if settings.macro_by is not None:
        return _macro(settings, settings.macro_by, table, context)
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


def _macro(settings: Mean, template: str, table: Table, context: Context) -> MetricResult:
    """The mean of the means of the groups; samples without a group are excluded."""
    values = table.column(settings.field).numbers(settings.field)
    groups = table.labels[template].texts()[0] if table.n else np.zeros(0, dtype=np.int64)
    present = np.isfinite(values) & (groups >= 0)
    value = macro_mean(
        values[present],
        groups[present],
        None if table.clusters is None else table.clusters[present],
        bounds=table.ranges.get(settings.field),
        level=context.level,
    )
    return MetricResult(
        values={settings.value_name("mean"): value},
        detail={"n_groups": len(np.unique(groups[present]))},
        n_excluded=int((~present).sum()),
    )


def per_sample(settings: Mean) -> PerSample:
    """Return the value of the field unchanged."""
    name = str(settings.field)
    return PerSample(
        fields=(name,),
        read=lambda score: as_number(score.get(name)),
        is_field=True,
        macro_by=settings.macro_by,
    )


def baseline(settings: Mean, scored: ScoredRun) -> dict[str, Any] | None:
    """Return the expected result of guessing if the mean is the share of right choices; None for any other mean."""
    if (
        settings.macro_by is not None
        or (scored.score_field or settings.field) != CORRECT
        or not {CHOICES, TRUTH} <= set(scored.metadata_fields)
    ):
        return None
    choices: Counter[int] = Counter()
    truths: Counter[str] = Counter()
    for metadata, n in scored.distinct_metadata():
        choices[len(metadata[CHOICES])] += n
        truths[str(metadata[TRUTH])] += n
    return baselines(choices, truths, chance_over_trials=scored.chance_over_trials)


KIND = MetricKind(settings=Mean, compute=mean, per_sample=per_sample, baseline=baseline)
