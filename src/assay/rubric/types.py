"""The types of rubrics under the name of AutoRubric's module."""

from __future__ import annotations

from pydantic import BaseModel, Field

from assay.grading.config import CannotAssessConfig, FewShotConfig, FewShotExample
from assay.judging.criteria import ABSTAIN_LABEL, Criterion, CriterionOption, CriterionVerdict
from assay.judging.length import LengthPenalty, ThinkingOutputDict
from assay.judging.reports import (
    CriterionReport,
    EnsembleCriterionReport,
    EnsembleEvaluationReport,
    EvaluationReport,
    TokenUsage,
)
from assay.judging.total import CannotAssessStrategy
from assay.judging.verdicts import (
    AggregatedMultiChoiceVerdict,
    CriterionJudgment,
    JudgeVote,
    MultiChoiceJudgeVote,
    MultiChoiceJudgment,
    MultiChoiceVerdict,
)

CANONICAL_NA_OPTION = CriterionOption(label=ABSTAIN_LABEL, value=0.0, na=True)
"""The option that is added to a criterion so that a judge may abstain."""


class RubricCriterionJudgment(BaseModel):
    """One judge's reply on one of several criteria: a verdict, or the number of an option."""

    criterion_id: str = Field(description="which criterion is judged, such as c0")
    criterion_status: CriterionVerdict | None = Field(default=None, description="for a criterion without options")
    selected_option: int | None = Field(default=None, description="for a criterion with options")
    explanation: str = Field(description="why, in a few words")


class RubricJudgment(BaseModel):
    """One judge's reply on all criteria of a submission."""

    judgments: list[RubricCriterionJudgment]
    reasoning: str | None = None


__all__ = [
    "CANONICAL_NA_OPTION",
    "AggregatedMultiChoiceVerdict",
    "CannotAssessConfig",
    "CannotAssessStrategy",
    "Criterion",
    "CriterionJudgment",
    "CriterionOption",
    "CriterionReport",
    "CriterionVerdict",
    "EnsembleCriterionReport",
    "EnsembleEvaluationReport",
    "EvaluationReport",
    "FewShotConfig",
    "FewShotExample",
    "JudgeVote",
    "LengthPenalty",
    "MultiChoiceJudgeVote",
    "MultiChoiceJudgment",
    "MultiChoiceVerdict",
    "RubricCriterionJudgment",
    "RubricJudgment",
    "ThinkingOutputDict",
    "TokenUsage",
]
