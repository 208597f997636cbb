"""The result of judging a submission: one report per criterion, and the score with its derivation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import Field

from assay.judging.criteria import Criterion, CriterionVerdict, Value
from assay.judging.total import RubricScore, SectionScore
from assay.judging.verdicts import (
    AggregatedMultiChoiceVerdict,
    JudgeVote,
    MultiChoiceJudgeVote,
    MultiChoiceVerdict,
    abstained,
    is_abstention,
)
from assay.types import Usage


@dataclass(slots=True)
class TokenUsage:
    """Tokens that were billed, as AutoRubric counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __post_init__(self) -> None:
        self.total_tokens = self.total_tokens or self.prompt_tokens + self.completion_tokens

    @classmethod
    def of(cls, usage: Usage) -> TokenUsage:
        """The tokens of some replies."""
        return cls(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


class CriterionReport(Criterion):
    """One judge's report on one criterion: the criterion with its verdict."""

    verdict: CriterionVerdict | None = Field(default=None, strict=False)
    multi_choice_verdict: AggregatedMultiChoiceVerdict | MultiChoiceVerdict | None = None
    reason: str | None = ""
    shuffle_order: list[int] | None = None
    error: str | None = None
    reasoning: str | None = None
    probabilities: dict[str, float] | None = None
    confidence: float | None = None

    @property
    def is_error(self) -> bool:
        """Return whether the judge could not be asked or its reply not be read."""
        return self.error is not None

    @property
    def is_na(self) -> bool:
        """Return whether the judge abstained."""
        return is_na(self.verdict, self.multi_choice_verdict)

    @property
    def score_value(self) -> float:
        """Return the value of the verdict; 0 for an abstention."""
        return score_value(self.verdict, self.multi_choice_verdict)


class EnsembleCriterionReport(Value):
    """The panel's report on one criterion.

    `votes` are those of all judges, `multi_choice_votes` those on a criterion with options. `shuffle_order` is the
    order of the options when all judges saw the same one; every vote has its own. `pairwise_agreement` is the share of
    pairs of judges that agree, `agreement` the share that agrees with the verdict; both leave out the `n_abstained`
    judges without an opinion and the `n_errors` that could not be read, and are None with fewer than two votes.
    `order_sensitive` says that a judge who was asked in both orders of the options gave two answers.

    `confidence` is how sure the first judges are of their verdict. Where it was too low, the criterion is `escalated`:
    a stronger panel decided it, and the first judges' votes are kept as superseded.
    """

    criterion: Criterion
    final_verdict: CriterionVerdict | None = Field(default=None, strict=False)
    final_reason: str | None = ""
    votes: list[JudgeVote | MultiChoiceJudgeVote] = Field(default_factory=list)
    agreement: float | None = 0.0
    final_multi_choice_verdict: AggregatedMultiChoiceVerdict | None = None
    multi_choice_votes: list[MultiChoiceJudgeVote] = Field(default_factory=list)
    error: str | None = None
    escalated: bool = False
    shuffle_order: list[int] | None = None
    pairwise_agreement: float | None = None
    n_abstained: int = 0
    n_errors: int = 0
    by_tie: bool = False
    order_sensitive: bool = False
    note: str | None = None
    confidence: float | None = None

    @property
    def verdict(self) -> CriterionVerdict | AggregatedMultiChoiceVerdict:
        """The verdict on the criterion, with options or without."""
        verdict = self.final_verdict if self.final_verdict is not None else self.final_multi_choice_verdict
        return abstained(self.criterion) if verdict is None else verdict

    @property
    def reason(self) -> str:
        """Return the reason for the verdict, in the judges' words."""
        return self.final_reason or ""

    @property
    def is_error(self) -> bool:
        """Return whether every judge failed."""
        return self.error is not None

    @property
    def is_na(self) -> bool:
        """Return whether the panel abstained."""
        return is_na(self.final_verdict, self.final_multi_choice_verdict)

    @property
    def score_value(self) -> float:
        """Return the value of the verdict; 0 for an abstention."""
        return score_value(self.final_verdict, self.final_multi_choice_verdict)

    @property
    def label(self) -> str | None:
        """The verdict in a word: MET, or the label of the option; None where none was picked."""
        if isinstance(self.verdict, CriterionVerdict):
            return None if self.error is not None else self.verdict.value
        return self.verdict.selected_label


def is_na(verdict: CriterionVerdict | None, choice: MultiChoiceVerdict | None) -> bool:
    """Return whether a verdict, with options or without, is an abstention."""
    return verdict is CriterionVerdict.CANNOT_ASSESS or (choice is not None and is_abstention(choice))


def score_value(verdict: CriterionVerdict | None, choice: MultiChoiceVerdict | None) -> float:
    """Return the value of a verdict; 0 for an abstention."""
    if choice is not None:
        return 0.0 if is_abstention(choice) else choice.value
    return 1.0 if verdict is CriterionVerdict.MET else 0.0


class EvaluationReport(Value):
    """The score of a submission; None when the panel failed or too little could be assessed.

    `llm_raw_score` is the weighted sum of the judges' verdicts, as `raw_score` is. `continuous_score` is what the score
    would be with every panel's mean in place of the nearest option.
    """

    score: float | None
    raw_score: float | None = None
    llm_raw_score: float | None = None
    report: list[CriterionReport] | None = None
    cannot_assess_count: int = 0
    error: str | None = None
    token_usage: TokenUsage | None = None
    completion_cost: float | None = None
    coverage: float = 0.0
    score_low: float | None = None
    score_high: float | None = None
    sections: Mapping[str, SectionScore] = {}
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    continuous_score: float | None = None


class EnsembleEvaluationReport(EvaluationReport):
    """The score of a panel, and the score that each judge alone would have given."""

    report: list[EnsembleCriterionReport] | None = None  # type: ignore[assignment]  # AutoRubric's own two types
    judge_scores: dict[str, float | None] = Field(default_factory=dict)
    mean_agreement: float | None = None

    @property
    def criteria(self) -> list[EnsembleCriterionReport]:
        """The reports on the criteria; none for a report without any."""
        return self.report or []


def aggregate_token_usage(usages: Sequence[TokenUsage | None]) -> TokenUsage | None:
    """The sum of what was billed; None when nothing is known.

    >>> aggregate_token_usage([None, TokenUsage(1, 2), TokenUsage(3, 4)]).total_tokens
    10
    """
    reported = [usage for usage in usages if usage is not None]
    return sum(reported[1:], reported[0]) if reported else None


def aggregate_completion_cost(costs: Sequence[float | None]) -> float | None:
    """The sum of the costs that are known; None when none is.

    >>> aggregate_completion_cost([0.5, None, 0.25])
    0.75
    """
    known_costs = [cost for cost in costs if cost is not None]
    return math.fsum(known_costs) if known_costs else None


def aggregate_evaluation_usage(
    reports: Sequence[EvaluationReport],
) -> tuple[TokenUsage | None, float | None]:
    """The tokens and the cost of several reports."""
    tokens = aggregate_token_usage([report.token_usage for report in reports])
    return tokens, aggregate_completion_cost([report.completion_cost for report in reports])


def mean_of(numbers: Sequence[float | None]) -> float | None:
    """Return the mean of the values that exist; None if there are none.

    >>> mean_of([1.0, None, 0.5]), mean_of([None])
    (0.75, None)
    """
    defined = [number for number in numbers if number is not None]
    return sum(defined) / len(defined) if defined else None


def scored(score: RubricScore) -> dict[str, Any]:
    """The fields of a score as a report has them."""
    return {
        "score": score.score,
        "raw_score": score.raw_score,
        "llm_raw_score": score.raw_score,
        "coverage": score.coverage,
        "score_low": score.score_low,
        "score_high": score.score_high,
        "sections": score.sections,
        "cannot_assess_count": score.cannot_assess_count,
        "reason": score.reason,
        "continuous_score": score.score,
    }
