"""`model_as_a_judge_scorer`: a judge rates each sample on a numeric scale."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from assay.judging.response_format import score_form
from assay.registry import JudgeScorerKind
from assay.scorers.common import SHARE, score_of
from assay.scorers.judge import JudgeScorerSpec, judged, verdict_metadata
from assay.types import Ask, Failure, Rows, Score


class JudgeScale(JudgeScorerSpec):
    """A judge's number from `score_min` to `score_max`, rescaled to 0 to 1."""

    type: Literal["model_as_a_judge_scorer"]
    score_min: float = Field(default=0, allow_inf_nan=False)
    score_max: float = Field(default=1, allow_inf_nan=False, validate_default=True)

    @field_validator("score_max")
    @classmethod
    def _above_the_least(cls, most: float, info: ValidationInfo) -> float:
        least = info.data.get("score_min")
        if least is not None and not 0 < most - least < math.inf:
            raise ValueError(f"expected a number above score_min ({least:g}), got {most:g}")
        return most

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean score."""
        return [{"type": "mean", "field": "score", "name": "score_mean"}]


async def judge_scale(settings: JudgeScale, rows: Rows, ask: Ask) -> Score | Failure:
    """Return the judge's number as a share of the scale; a number out of range is a failure, never clamped."""
    low, high = settings.score_min, settings.score_max
    verdict = await judged(settings, rows, ask, score_form(low, high))
    if isinstance(verdict, Failure):
        return verdict
    share = (verdict.value - low) / (high - low)
    return score_of(KIND, {"score": share, "raw_score": verdict.value, **verdict_metadata(verdict)})


KIND = JudgeScorerKind(
    settings=JudgeScale,
    score=judge_scale,
    values=("score",),
    metadata=("raw_score", "reasoning", "confidence"),
    ranges={"score": SHARE},
)
