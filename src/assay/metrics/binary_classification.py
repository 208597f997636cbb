"""Accuracy, precision, recall and F1 of yes/no answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, Self

from pydantic import model_validator

from assay.metrics.baseline import class_baselines
from assay.metrics.columns import classes, same_text
from assay.metrics.context import Context
from assay.metrics.sums import class_sums
from assay.metrics.table import IntArray, Table
from assay.registry import MetricKind, PerSample, PerSampleSums, ScoredRun
from assay.spec.fields import Located, MetricSpec
from assay.stats.classification import binary, class_f1, class_precision, class_recall
from assay.types import MetricResult


class BinaryClassification(MetricSpec):
    """Accuracy, precision, recall and F1 for ground truths and predictions that are one of two answers."""

    type: Literal["binary-classification"]
    field_gt: Located
    field_pred: Located
    positive_answer: str
    negative_answer: str
    unmatched: Literal["exclude", "negative", "wrong"] = "exclude"

    @model_validator(mode="after")
    def _two_answers(self) -> Self:
        if self.positive_answer == self.negative_answer:
            raise ValueError("positive_answer and negative_answer are the same")
        return self


def binary_classification(settings: BinaryClassification, table: Table, context: Context) -> MetricResult:
    """Compute the four values and the confusion counts; `unmatched` decides how a prediction that is neither counts."""
    answers = (settings.negative_answer, settings.positive_answer)
    unmatched = _UNMATCHED[settings.unmatched]
    predictions = classes(table, settings.field_gt, settings.field_pred, answers, unmatched=unmatched)
    pairs = predictions.pairs
    (tn, fp), (fn, tp) = pairs.confusion().tolist()
    return MetricResult(
        values=binary(pairs, level=context.level),
        detail={
            "confusion": {"tp": tp, "fp": fp, "tn": tn, "fn": fn},
            "answers": {"positive": settings.positive_answer, "negative": settings.negative_answer},
            **({} if unmatched is None else {"n_unmatched": predictions.n_unmatched}),
            "n_excluded": predictions.n_excluded,
        },
        n_excluded=predictions.n_excluded,
    )


# codes of classes: the negative answer is 0, the positive one 1
_UNMATCHED: dict[str, Callable[[IntArray], IntArray] | None] = {
    "exclude": None,
    "negative": lambda truth: truth * 0,
    "wrong": lambda truth: 1 - truth,
}


def per_sample(settings: BinaryClassification) -> PerSample:
    """Return whether prediction and ground truth are the same answer;

    `unmatched` decides how any other prediction counts.
    """
    negative, positive = str(settings.negative_answer), str(settings.positive_answer)
    exact = same_text(settings.field_gt, settings.field_pred, (negative, positive))
    if settings.unmatched == "exclude":
        return exact

    def read(score: Mapping[str, Any]) -> float | None:
        truth = str(score.get(settings.field_gt))
        if truth not in (negative, positive):
            return None
        if str(score.get(settings.field_pred)) not in (negative, positive):
            return 1.0 if settings.unmatched == "negative" and truth == negative else 0.0
        return exact.read(score)

    return replace(exact, read=read)


def sums(settings: BinaryClassification) -> PerSampleSums:
    """Return the contribution of a sample to the confusion table of the two answers."""
    negative, positive = str(settings.negative_answer), str(settings.positive_answer)
    stands_for: dict[str, Callable[[tuple[str, str]], str] | None] = {
        "exclude": None,
        "negative": lambda _: negative,
        "wrong": lambda pair: positive if pair[0] == negative else negative,
    }
    return class_sums(
        settings.field_gt,
        settings.field_pred,
        lambda _: {"precision": class_precision(1), "recall": class_recall(1), "f1_score": class_f1(1)},
        labels=(negative, positive),
        unmatched=stands_for[settings.unmatched],
    )


def baseline(settings: BinaryClassification, scored: ScoredRun) -> dict[str, Any] | None:
    """The accuracy of guessing, and of always giving the more frequent answer."""
    counts = scored.result.detail["confusion"]
    return class_baselines(
        {
            str(settings.positive_answer): counts["tp"] + counts["fn"],
            str(settings.negative_answer): counts["tn"] + counts["fp"],
        }
    )


KIND = MetricKind(
    settings=BinaryClassification, compute=binary_classification, per_sample=per_sample, sums=sums, baseline=baseline
)
