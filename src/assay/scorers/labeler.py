"""`labeler_via_model`: a judge labels each sample without rating it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from assay.judging.response_format import choice_form, label_form
from assay.registry import JudgeScorerKind
from assay.scorers.common import score_of
from assay.scorers.judge import JudgeScorerSpec, distinct, judged, verdict_metadata
from assay.types import Ask, Failure, Rows, Score


class Labeler(JudgeScorerSpec):
    """A judge's label for each sample: one of `valid_labels`, or any label if there are none."""

    type: Literal["labeler_via_model"]
    valid_labels: list[str] = Field(default_factory=list)

    @field_validator("valid_labels")
    @classmethod
    def _distinct(cls, labels: list[str]) -> list[str]:
        distinct(labels)
        return labels

    def default_metrics(self) -> list[dict[str, Any]]:
        """The share of each label."""
        return [{"type": "frequency", "field": "label"}]


async def label(settings: Labeler, rows: Rows, ask: Ask) -> Score | Failure:
    """The judge's label in its declared spelling."""
    labels = tuple(map(str, settings.valid_labels))
    verdict = await judged(settings, rows, ask, choice_form(labels) if labels else label_form())
    if isinstance(verdict, Failure):
        return verdict
    return score_of(KIND, {"label": verdict.value, "raw_label": verdict.written, **verdict_metadata(verdict)})


KIND = JudgeScorerKind(
    settings=Labeler,
    score=label,
    values=("label",),
    metadata=("raw_label", "reasoning", "confidence"),
)
