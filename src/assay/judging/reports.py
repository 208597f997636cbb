"""What comes of judging a submission: one report per criterion, and the score with all that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from assay.judging.criteria import Criterion, CriterionVerdict, Value
from assay.judging.total import RubricScore, SectionScore
from assay.judging.verdicts import AggregatedMultiChoiceVerdict, JudgeVote, MultiChoiceJudgeVote
from assay.types import Usage

TokenUsage = Usage
"""The name that AutoRubric gives to the tokens that were billed."""


class CriterionReport(Value):
    """What one judge says of one criterion."""

    criterion: Criterion
    verdict: CriterionVerdict | AggregatedMultiChoiceVerdict
    reason: str = ""
    shuffle_order: tuple[int, ...] | None = None
    error: str | None = None


class EnsembleCriterionReport(CriterionReport):
    """What a panel says of one criterion; its own `shuffle_order` is None, every vote has one.

    `pairwise_agreement` is the share of pairs of judges that agree, `agreement` the share that agrees with the
    verdict; both leave out the `n_abstained` judges without an opinion and the `n_errors` that could not be read.
    `order_sensitive` says that a judge who was asked in both orders of the options gave two answers.

    `confidence` is how sure the first judges are of their verdict. Where it was too low, the criterion is `escalated`:
    a stronger panel decided it, and the first judges' votes are kept as superseded.
    """

    votes: tuple[JudgeVote | MultiChoiceJudgeVote, ...] = ()
    pairwise_agreement: float | None = None
    agreement: float | None = None
    n_abstained: int = 0
    n_errors: int = 0
    by_tie: bool = False
    order_sensitive: bool = False
    note: str | None = None
    escalated: bool = False
    confidence: float | None = None

    @property
    def final_verdict(self) -> CriterionVerdict | None:
        """The verdict on a criterion without options."""
        return self.verdict if isinstance(self.verdict, CriterionVerdict) else None

    @property
    def final_multi_choice_verdict(self) -> AggregatedMultiChoiceVerdict | None:
        """The verdict on a criterion with options."""
        return self.verdict if isinstance(self.verdict, AggregatedMultiChoiceVerdict) else None

    @property
    def final_reason(self) -> str:
        """Why, in the judges' words."""
        return self.reason

    @property
    def label(self) -> str | None:
        """The verdict in a word: MET, or the label of the option; None where none was picked."""
        if isinstance(self.verdict, CriterionVerdict):
            return None if self.error is not None else self.verdict.value
        return self.verdict.selected_label


class EvaluationReport(Value):
    """The score of a submission; None when the panel failed or too little could be assessed.

    `continuous_score` is what it would be with every panel's mean in place of the nearest option.
    """

    score: float | None
    raw_score: float | None
    report: tuple[Any, ...] = ()
    cannot_assess_count: int = 0
    error: str | None = None
    token_usage: Usage | None = None
    completion_cost: Decimal | None = None
    coverage: float = 0.0
    score_low: float | None = None
    score_high: float | None = None
    sections: Mapping[str, SectionScore] = {}
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    continuous_score: float | None = None


class EnsembleEvaluationReport(EvaluationReport):
    """The score that a panel gives, and what each judge alone would have given."""

    report: tuple[EnsembleCriterionReport, ...] = ()
    judge_scores: Mapping[str, float | None] = {}
    mean_agreement: float | None = None


def mean_of(numbers: Sequence[float | None]) -> float | None:
    """The mean of the numbers that are there; None when there are none.

    >>> mean_of([1.0, None, 0.5]), mean_of([None])
    (0.75, None)
    """
    there = [number for number in numbers if number is not None]
    return sum(there) / len(there) if there else None


def scored(score: RubricScore) -> dict[str, Any]:
    """The fields of a score as a report has them."""
    return {
        "score": score.score,
        "raw_score": score.raw_score,
        "coverage": score.coverage,
        "score_low": score.score_low,
        "score_high": score.score_high,
        "sections": score.sections,
        "cannot_assess_count": score.cannot_assess_count,
        "reason": score.reason,
        "continuous_score": score.score,
    }
