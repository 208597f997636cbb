"""What judges say of one criterion: single votes, and what a panel makes of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator

from assay.judging.criteria import Criterion, CriterionVerdict, Text, Value

VoteError = Literal["infrastructure", "parse", "refusal"]
"""Why a judge gave no vote: it could not be reached, could not be read, or refused."""


class MultiChoiceVerdict(Value):
    """An option that was chosen; index None is an abstention that picks no option."""

    selected_index: int | None = None
    selected_label: Text | None = None
    value: float
    na: bool = False


class AggregatedMultiChoiceVerdict(MultiChoiceVerdict):
    """The option that a panel settled on, and the number before it was snapped to an option."""

    aggregated_value: float
    error: Text | None = None


class MultiChoiceJudgment(Value):
    """What one judge wrote: the place (from 1) of the option as it was shown, and why."""

    selected_option: int
    explanation: Text
    reasoning: Text | None = None


class CriterionJudgment(Value):
    """What one judge wrote about a criterion without options."""

    criterion_status: CriterionVerdict = Field(strict=False)
    explanation: Text
    reasoning: Text | None = None


class _AnyVote(Value):
    """What votes of both kinds share; `error` is a category and the cause, as in "parse: no JSON in the reply".

    `probabilities` and `confidence` are those of the chosen answer where the provider returns them. A vote that another
    judge's vote replaced is `superseded`.
    """

    judge_id: Text
    reason: Text | None = ""
    weight: float = Field(default=1.0, allow_inf_nan=False, gt=0)
    error: Text | None = None
    reasoning: Text | None = None
    probabilities: dict[str, float] | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    superseded: bool = False
    repeat: int = Field(default=0, ge=0)
    retryable: bool = False

    @property
    def is_error(self) -> bool:
        """Whether the judge could not be asked or read."""
        return self.error is not None

    @property
    def error_category(self) -> str | None:
        """Why there is no vote, in a word: infrastructure, parse or refusal.

        >>> JudgeVote(judge_id="a", verdict="CANNOT_ASSESS", error="parse: no JSON").error_category
        'parse'
        """
        return None if self.error is None else self.error.partition(":")[0]


class JudgeVote(_AnyVote):
    """What one judge says of a binary criterion; an error is never a verdict.

    `repeat` counts how often the judge was asked before; `retryable` marks an error that may pass.
    """

    verdict: CriterionVerdict = Field(strict=False)


class MultiChoiceJudgeVote(_AnyVote):
    """What one judge says of a criterion with options; `shuffle_order[place]` is the option shown there.

    `reversed_order` marks the second vote of a judge who was asked in both orders; `repeat` counts how often the judge
    was asked before; `retryable` marks an error that may pass. `confidence` is the probability of the chosen option,
    where the model returned logprobs; a `superseded` vote was escalated to other judges.
    """

    selected_index: int | None = None
    selected_label: Text | None = None
    value: float = 0.0
    na: bool = False
    shuffle_order: list[int] | None = None
    judgment: MultiChoiceJudgment | None = None
    # stores written before the field had this name call it `backwards`
    reversed_order: bool = Field(default=False, validation_alias=AliasChoices("reversed_order", "backwards"))

    @field_validator("shuffle_order", mode="before")
    @classmethod
    def _as_list(cls, order: Any) -> Any:
        return list(order) if isinstance(order, tuple) else order


Vote = JudgeVote | MultiChoiceJudgeVote
FIRST_CALL = (0, False)


def call_of(vote: Vote) -> tuple[int, bool]:
    """Which call a vote answers: how often its judge was asked before, and whether with the options in reverse.

    >>> call_of(JudgeVote(judge_id="a", verdict="MET")) == FIRST_CALL
    True
    """
    return vote.repeat, isinstance(vote, MultiChoiceJudgeVote) and vote.reversed_order


Verdict = CriterionVerdict | MultiChoiceVerdict


def chosen(criterion: Criterion, index: int) -> AggregatedMultiChoiceVerdict:
    """The verdict that picks an option; one that abstains is not a judgment."""
    option = criterion.choices[index]
    return AggregatedMultiChoiceVerdict(
        selected_index=index,
        selected_label=option.label,
        value=option.value,
        na=option.na,
        aggregated_value=option.value,
    )


def abstained(criterion: Criterion) -> CriterionVerdict | AggregatedMultiChoiceVerdict:
    """The verdict of nobody: CANNOT_ASSESS, the option that abstains, or no option at all."""
    if criterion.is_binary:
        return CriterionVerdict.CANNOT_ASSESS
    index = criterion.na_index
    return (
        AggregatedMultiChoiceVerdict(value=0.0, aggregated_value=0.0, na=True)
        if index is None
        else chosen(criterion, index)
    )


def is_abstention(verdict: Verdict) -> bool:
    """Whether a verdict says nothing about the submission."""
    if isinstance(verdict, CriterionVerdict):
        return verdict is CriterionVerdict.CANNOT_ASSESS
    return verdict.na or verdict.selected_index is None


def read_verdict(criterion: Criterion, value: object) -> Verdict:
    """A verdict from what a person may write: a verdict, `MET`, or an option's label in any case.

    >>> read_verdict(Criterion(requirement="Polite"), "met").value
    'MET'
    """
    if criterion.is_binary:
        if isinstance(value, str) and not isinstance(value, CriterionVerdict):
            value = CriterionVerdict.__members__.get(value.strip().upper(), value)
        if isinstance(value, CriterionVerdict):
            return value
        raise ValueError(f"expected MET, UNMET or CANNOT_ASSESS, got {value!r}")
    if isinstance(value, MultiChoiceVerdict):
        return _checked(criterion, value)
    if isinstance(value, CriterionVerdict):
        if value is CriterionVerdict.CANNOT_ASSESS:
            return abstained(criterion)
        raise ValueError(f"expected the label of an option, got {value.value}")
    if isinstance(value, str):
        return chosen(criterion, criterion.find_option_by_label(value))
    raise ValueError(f"expected the label of an option, got {value!r}")


def verdict_in_words(criterion: Criterion, word: str) -> Verdict:
    """A verdict as datasets write it: MET, UNMET, the label of an option, or CANNOT_ASSESS for any criterion."""
    if word == CriterionVerdict.CANNOT_ASSESS:
        return abstained(criterion)
    return read_verdict(criterion, word)


def _checked(criterion: Criterion, verdict: MultiChoiceVerdict) -> MultiChoiceVerdict:
    """A verdict whose option is there; one that names its option only by the label gets its place."""
    if verdict.na:
        return verdict
    if verdict.selected_index is None:
        if verdict.selected_label is None:
            return verdict
        return chosen(criterion, criterion.find_option_by_label(verdict.selected_label))
    if not 0 <= verdict.selected_index < len(criterion.choices):
        raise ValueError(f"there is no option {verdict.selected_index}; the criterion has {len(criterion.choices)}")
    return verdict
