"""`model_as_a_judge_classifier`: a judge puts a label on each sample, and some labels mean "correct"."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from assay.judging.response_format import choice_form
from assay.registry import JudgeScorerKind
from assay.scorers.common import SHARE, STAGE, score_of
from assay.scorers.judge import JudgeScorerSpec, distinct, judged, verdict_metadata
from assay.spec.fields import Template
from assay.templates import values
from assay.types import Ask, Failure, Rows, Score

_TRUTH = "ground_truth_label"


class JudgeClassifier(JudgeScorerSpec):
    """A judge chooses one of the declared labels; those in `correct_labels` make the sample correct."""

    type: Literal["model_as_a_judge_classifier"]
    correct_labels: list[str]
    incorrect_labels: list[str]
    ground_truth: Template | None = None

    @field_validator("correct_labels")
    @classmethod
    def _distinct(cls, labels: list[str]) -> list[str]:
        distinct(labels)
        return labels

    @field_validator("incorrect_labels")
    @classmethod
    def _disjoint(cls, labels: list[str], info: ValidationInfo) -> list[str]:
        correct = info.data.get("correct_labels")
        distinct(labels, correct or ())
        if correct == [] and not labels:
            raise ValueError("there is no label to choose")
        return labels

    def default_metrics(self) -> list[dict[str, Any]]:
        """The share of correct samples."""
        return [{"type": "mean", "field": "is_correct", "name": "accuracy"}]


async def judge_classifier(settings: JudgeClassifier, rows: Rows, ask: Ask) -> Score | Failure:
    """Score whether the judge's label is a correct one, and return the label in its declared spelling."""
    truth = _ground_truth(settings, rows)
    if isinstance(truth, Failure):
        return truth
    labels = (*map(str, settings.correct_labels), *map(str, settings.incorrect_labels))
    verdict = await judged(settings, rows, ask, choice_form(labels))
    if isinstance(verdict, Failure):
        return verdict
    fields = {
        "is_correct": 1.0 if verdict.value in settings.correct_labels else 0.0,
        "predicted_label": verdict.value,
        "raw_label": verdict.written,
        **verdict_metadata(verdict),
    }
    return score_of(KIND, fields if truth is None else {**fields, _TRUTH: truth})


def _ground_truth(settings: JudgeClassifier, rows: Rows) -> str | Failure | None:
    """Return the true label as text, or None if it is unknown; evaluated before any call."""
    if settings.ground_truth is None:
        label = rows.samples[0].get(_TRUTH)
    else:
        column = values(settings.ground_truth, rows, stage=STAGE)
        if column.failures:
            return column.failures[0]
        label = column.values[0]
    return None if label in (None, "") else str(label)


KIND = JudgeScorerKind(
    settings=JudgeClassifier,
    score=judge_classifier,
    version=2,
    values=("is_correct", "predicted_label", _TRUTH),
    metadata=("raw_label", "reasoning", "confidence"),
    ranges={"is_correct": SHARE},
)
