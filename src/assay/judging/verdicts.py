"""The verdicts on one criterion: single votes, and the panel's aggregate."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field, field_validator

from assay.judging.criteria import Criterion, CriterionVerdict, Text, Value

VoteError = Literal["infrastructure", "parse", "refusal"]
"""Why a judge gave no vote: it could not be reached or read, or it refused."""


class MultiChoiceVerdict(Value):
    """An option that was chosen; index None is an abstention that picks no option."""

    selected_index: int | None = None
    selected_label: Text | None = None
    value: float
    na: bool = False


class AggregatedMultiChoiceVerdict(MultiChoiceVerdict):
    """The option that a panel chose, and the value before it was snapped to an option."""

    aggregated_value: float
    error: Text | None = None


class MultiChoiceJudgment(Value):
    """One judge's reply: the position (from 1) of the option as shown, and the reason."""

    selected_option: int
    explanation: Text
    reasoning: Text | None = None


class CriterionJudgment(Value):
    """One judge's reply on a criterion without options."""

    criterion_status: CriterionVerdict = Field(strict=False)
    explanation: Text
    reasoning: Text | None = None


class _AnyVote(Value):
    """The common part of all votes; `error` is a category and the cause, as in "parse: no JSON in the reply".

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
        """Return whether the judge could not be asked or its reply not be read."""
        return self.error is not None

    @property
    def error_category(self) -> str | None:
        """Return the category of the error: infrastructure, parse or refusal.

        >>> JudgeVote(judge_id="a", verdict="CANNOT_ASSESS", error="parse: no JSON").error_category
        'parse'
        """
        return None if self.error is None else self.error.partition(":")[0]


class JudgeVote(_AnyVote):
    """One judge's vote on a binary criterion; an error is never a verdict.

    `repeat` counts how often the judge was asked before; `retryable` marks an error that may pass.
    """

    verdict: CriterionVerdict = Field(strict=False)


class MultiChoiceJudgeVote(_AnyVote):
    """One judge's vote on a criterion with options; `shuffle_order[i]` is the option shown at position i.

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
    """Return which call a vote answers: the number of earlier calls to its judge, and whether options were reversed.

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
    """Return the verdict of an abstention: CANNOT_ASSESS, the abstaining option, or no option."""
    if criterion.is_binary:
        return CriterionVerdict.CANNOT_ASSESS
    index = criterion.na_index
    return (
        AggregatedMultiChoiceVerdict(value=0.0, aggregated_value=0.0, na=True)
        if index is None
        else chosen(criterion, index)
    )


def is_abstention(verdict: Verdict) -> bool:
    """Return whether a verdict is an abstention."""
    if isinstance(verdict, CriterionVerdict):
        return verdict is CriterionVerdict.CANNOT_ASSESS
    return verdict.na or verdict.selected_index is None


def read_verdict(criterion: Criterion, value: object) -> Verdict:
    """Read a verdict as people write it: a verdict, `MET`, or the label of an option in any case.

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
    """Check that a verdict's option exists; a verdict given only by label gets its index."""
    if verdict.na:
        return verdict
    if verdict.selected_index is None:
        if verdict.selected_label is None:
            return verdict
        return chosen(criterion, criterion.find_option_by_label(verdict.selected_label))
    if not 0 <= verdict.selected_index < len(criterion.choices):
        raise ValueError(f"there is no option {verdict.selected_index}; the criterion has {len(criterion.choices)}")
    return verdict
