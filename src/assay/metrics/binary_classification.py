"""Accuracy, precision, recall and F1 of yes/no answers."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from assay.metrics.columns import classes
from assay.metrics.context import Context
from assay.metrics.table import Table
from assay.registry import MetricKind
from assay.spec.fields import Located, MetricSpec
from assay.stats.classification import binary
from assay.types import MetricResult


class BinaryClassification(MetricSpec):
    """Accuracy, precision, recall and F1 where truth and prediction are one of two answers."""

    type: Literal["binary-classification"]
    field_gt: Located
    field_pred: Located
    positive_answer: str
    negative_answer: str

    @model_validator(mode="after")
    def _two_answers(self) -> Self:
        if self.positive_answer == self.negative_answer:
            raise ValueError("positive_answer and negative_answer are the same")
        return self


def binary_classification(settings: BinaryClassification, table: Table, context: Context) -> MetricResult:
    """The four values and the confusion counts; a sample with any other answer is left out of all of it."""
    answers = (settings.negative_answer, settings.positive_answer)
    found = classes(table, settings.field_gt, settings.field_pred, answers)
    pairs = found.pairs
    (tn, fp), (fn, tp) = pairs.confusion().tolist()
    return MetricResult(
        values=binary(pairs, level=context.level),
        detail={"confusion": {"tp": tp, "fp": fp, "tn": tn, "fn": fn}, "n_excluded": found.n_excluded},
        n_excluded=found.n_excluded,
    )


KIND = MetricKind(settings=BinaryClassification, compute=binary_classification)
