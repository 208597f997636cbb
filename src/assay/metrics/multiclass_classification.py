"""Accuracy, and precision, recall and F1 of each class and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field

from assay.metrics.baseline import class_baselines
from assay.metrics.columns import Classes, classes, same_text
from assay.metrics.context import Context
from assay.metrics.sums import class_sums
from assay.metrics.table import Table
from assay.registry import MetricKind, PerSample, PerSampleSums, ScoredRun
from assay.spec.fields import Located, MetricSpec
from assay.stats.bayes import table_value
from assay.stats.classification import (
    Statistic,
    accuracy,
    class_f1,
    class_precision,
    class_recall,
    macro_f1,
    macro_precision,
    macro_recall,
    marginals,
    one_class,
    weighted_f1,
)
from assay.types import MetricResult, MetricValue

AVERAGES: dict[str, Statistic] = {
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
}


# With fewer samples in a class the interval of a plain mean over classes covers 86 to 92 %, not 95.
SMALL_CLASS = 10


def _distinct(labels: list[str]) -> list[str]:
    if len(set(labels)) < len(labels):
        raise ValueError("a label appears twice")
    return labels


class MulticlassClassification(MetricSpec):
    """Accuracy, precision, recall and F1 of each class, their plain means, and F1 weighted by support."""

    type: Literal["multiclass-classification"]
    field_gt: Located
    field_pred: Located
    labels: Annotated[list[str], Field(min_length=1), AfterValidator(_distinct)] | None = None


def multiclass_classification(settings: MulticlassClassification, table: Table, context: Context) -> MetricResult:
    """Compute all values by name; the classes are those that occur, or `labels`, which excludes others.

    In the plain means an undefined ratio of a class enters as 0, and the detail names it.
    """
    predictions = classes(table, settings.field_gt, settings.field_pred, settings.labels)
    pairs = predictions.pairs
    level = context.level
    values = {"accuracy": accuracy(pairs, level=level)}
    for code, name in enumerate(predictions.names):
        values |= zip(_value_names(name), one_class(pairs, code, level=level), strict=True)
    sums = marginals(pairs.confusion())
    small = min(sums.truth.min(initial=np.inf), sums.predicted.min(initial=np.inf)) < SMALL_CLASS
    for name, statistic in AVERAGES.items():
        value = table_value(pairs, statistic, rng=context.random(name), level=level)
        values[name] = _with_caveat(value) if small and name.startswith("macro") else value
    return MetricResult(values=values, detail=_detail(predictions), n_excluded=predictions.n_excluded)


def _with_caveat(value: MetricValue) -> MetricValue:
    if value.interval is None:
        return value
    caveats = [part for part in (value.interval.caveat, "small classes") if part]
    return replace(value, interval=replace(value.interval, caveat="; ".join(caveats)))


def _value_names(name: str) -> tuple[str, str, str]:
    """The names of a class's precision, recall and F1."""
    # A class may be called "macro": its values must not hide the averages.
    prefix = f"class {name}" if f"{name}_f1" in AVERAGES else name
    return f"{prefix}_precision", f"{prefix}_recall", f"{prefix}_f1"


def _detail(predictions: Classes) -> dict[str, Any]:
    matrix = predictions.pairs.confusion()
    sums = marginals(matrix)
    names = predictions.names
    return {
        "confusion": {
            truth: dict(zip(names, row, strict=True)) for truth, row in zip(names, matrix.tolist(), strict=True)
        },
        "support": dict(zip(names, matrix.sum(axis=1).tolist(), strict=True)),
        "undefined": {
            "precision": [name for name, total in zip(names, sums.predicted, strict=True) if total == 0],
            "recall": [name for name, total in zip(names, sums.truth, strict=True) if total == 0],
        },
        "n_excluded": predictions.n_excluded,
    }


def per_sample(settings: MulticlassClassification) -> PerSample:
    """Return whether prediction and ground truth are the same class; with `labels` any other class is excluded."""
    return same_text(settings.field_gt, settings.field_pred, settings.labels)


def sums(settings: MulticlassClassification) -> PerSampleSums:
    """Return the contribution of a sample to the confusion table of all classes."""

    def statistics(names: Sequence[str]) -> Mapping[str, Statistic]:
        by_class = {
            value: statistic(code)
            for code, name in enumerate(names)
            for value, statistic in zip(_value_names(name), (class_precision, class_recall, class_f1), strict=True)
        }
        return by_class | AVERAGES

    return class_sums(settings.field_gt, settings.field_pred, statistics, labels=settings.labels)


def baseline(settings: MulticlassClassification, scored: ScoredRun) -> dict[str, Any] | None:
    """The accuracy of guessing, and of always naming the most frequent class."""
    return class_baselines(scored.result.detail["support"])


KIND = MetricKind(
    settings=MulticlassClassification,
    compute=multiclass_classification,
    per_sample=per_sample,
    sums=sums,
    baseline=baseline,
)
