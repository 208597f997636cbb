"""From verdicts to a score: weights, abstentions, and how much of the rubric was assessed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, get_args

from assay.judging.criteria import Criterion, CriterionVerdict, Value
from assay.judging.length import LengthPenalty, ToGradeInput, words_in
from assay.judging.verdicts import AggregatedMultiChoiceVerdict, Verdict, is_abstention, read_verdict

CannotAssess = Literal["skip", "zero", "partial", "fail"]
ScoreValueRule = Literal["snapped", "continuous"]
NO_POSITIVE = "no positive criterion assessed"
NOTHING = "no criterion was assessed"
LOW_COVERAGE = 0.5


class CannotAssessStrategy(StrEnum):
    """The treatment of a criterion that no judge could assess."""

    SKIP = "skip"
    ZERO = "zero"
    PARTIAL = "partial"
    FAIL = "fail"


class Section(Value):
    """A named part of a rubric: its criteria have the indices from `start` up to `stop`."""

    name: str
    start: int
    stop: int


class SectionScore(Value):
    """The score of one part of a rubric."""

    score: float | None
    raw_score: float | None
    coverage: float


class RubricScore(Value):
    """A score and its derivation; `reason` explains a missing score.

    `score_low` and `score_high` are what it would be with every abstained criterion at its worst and at its best.
    """

    score: float | None
    raw_score: float | None
    coverage: float
    sections: Mapping[str, SectionScore] = {}
    score_low: float | None = None
    score_high: float | None = None
    cannot_assess_count: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The settings that turn verdicts into a score."""

    normalize: bool = True
    cannot_assess: CannotAssess = "skip"
    partial_credit: float = 0.5
    min_coverage: float = 0.0
    score_value: ScoreValueRule = "snapped"
    length_penalty: LengthPenalty | None = None

    def __post_init__(self) -> None:
        if self.cannot_assess not in get_args(CannotAssess):
            names = ", ".join(get_args(CannotAssess))
            raise ValueError(f'unknown cannot_assess "{self.cannot_assess}"; known: {names}')
        if self.score_value not in get_args(ScoreValueRule):
            raise ValueError(f'score_value is "snapped" or "continuous", not "{self.score_value}"')
        for name in ("partial_credit", "min_coverage"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {getattr(self, name):g}")

    def length(self, submission: ToGradeInput) -> int:
        """Return the length of a submission, in the units of the length penalty."""
        if self.length_penalty is not None:
            return self.length_penalty.length(submission)
        return words_in(submission if isinstance(submission, str) else submission.get("output", ""))

    def after_length(self, score: float | None, words: int | None) -> float | None:
        """A score less what the length costs; only a normalized one can lose by it, and never more than it has."""
        if score is None or words is None or self.length_penalty is None or not self.normalize:
            return score
        return max(0.0, score - self.length_penalty.of(words))


@dataclass(frozen=True, slots=True)
class _Mark:
    """A criterion and the value of its verdict; None when it was not assessed."""

    criterion: Criterion
    value: float | None

    @property
    def weight(self) -> float:
        return self.criterion.weight


@dataclass(slots=True)
class _Sums:
    """The components of the score: contributions, and the weights of the assessed criteria."""

    contributions: list[float] = field(default_factory=list)
    positive: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def keep(self, weight: float, contribution: float) -> None:
        self.contributions.append(contribution)
        if weight > 0:
            self.positive.append(weight)
        else:
            self.others.append(-weight)


def total(
    criteria: Sequence[Criterion],
    verdicts: Sequence[object],
    scoring: Scoring,
    sections: Sequence[Section] = (),
    *,
    words: int | None = None,
) -> RubricScore:
    """The score of a submission from one verdict per criterion: a verdict, or the label of an option.

    `words` is the length of the submission, for rules that have a length penalty; sections never lose by it.
    """
    if len(criteria) != len(verdicts):
        raise ValueError(f"the rubric has {len(criteria)} criteria, but there are {len(verdicts)} verdicts")
    marks = [
        _Mark(criterion, value_of(criterion, read_verdict(criterion, verdict), scoring.score_value))
        for criterion, verdict in zip(criteria, verdicts, strict=True)
    ]
    score, raw, reason = _score(marks, scoring)
    coverage = _coverage(marks)
    if score is not None and coverage < scoring.min_coverage:
        score, reason = None, f"only {coverage:.0%} of the weights were assessed; at least {scoring.min_coverage:.0%}"
    # the scores that the submission could have had, if everything that was not assessed were worst or best
    low, high = (_score(_completed(marks, end), scoring)[0] for end in (-1, 1))
    return RubricScore(
        score=scoring.after_length(score, words),
        raw_score=raw,
        coverage=coverage,
        sections={section.name: _section(marks[section.start : section.stop], scoring) for section in sections},
        score_low=scoring.after_length(low, words),
        score_high=scoring.after_length(high, words),
        cannot_assess_count=sum(mark.value is None for mark in marks),
        reason=reason,
    )


def value_of(criterion: Criterion, verdict: Verdict, rule: ScoreValueRule = "snapped") -> float | None:
    """Return the value of a verdict; None for an abstention."""
    if is_abstention(verdict):
        return None
    if isinstance(verdict, CriterionVerdict):
        return 1.0 if verdict is CriterionVerdict.MET else 0.0
    if rule == "continuous" and isinstance(verdict, AggregatedMultiChoiceVerdict):
        return verdict.aggregated_value
    assert verdict.selected_index is not None
    # the rubric decides what an option is worth, not the moment at which it was chosen
    return criterion.choices[verdict.selected_index].value


def _section(marks: Sequence[_Mark], scoring: Scoring) -> SectionScore:
    score, raw, _ = _score(marks, scoring)
    return SectionScore(score=score, raw_score=raw, coverage=_coverage(marks))


def _score(marks: Sequence[_Mark], scoring: Scoring) -> tuple[float | None, float | None, str | None]:
    """Return the score, the raw sum, and the reason for a missing score."""
    sums = _Sums()
    for mark in marks:
        if mark.value is not None:
            sums.keep(mark.weight, mark.value * mark.weight)
        elif scoring.cannot_assess != "skip":
            sums.keep(mark.weight, _unassessed(mark.criterion, scoring))
    if not sums.contributions:
        return None, None, NOTHING
    raw = math.fsum(sums.contributions)
    # a rubric with merits, none of which was assessed, must not be scored by its faults alone
    declared = any(mark.weight > 0 for mark in marks)
    if declared and not sums.positive:
        return None, raw, NO_POSITIVE
    return (_normalized(raw, sums) if scoring.normalize else raw), raw, None


def _normalized(raw: float, sums: _Sums) -> float:
    gains, faults = math.fsum(sums.positive), math.fsum(sums.others)
    if gains > 0:
        return _share(raw / gains)
    # a rubric of faults alone has nothing to gain: it starts at 1 and loses
    return _share(1 + raw / faults) if faults > 0 else 0.0


def _share(number: float) -> float:
    return min(1.0, max(0.0, number))


def _unassessed(criterion: Criterion, scoring: Scoring) -> float:
    """Return the contribution of an unassessed criterion that is not left out."""
    weight = criterion.weight
    if scoring.cannot_assess == "partial":
        return scoring.partial_credit * weight if weight > 0 else 0.0
    if scoring.cannot_assess == "fail":
        return weight * max(criterion.values) if weight < 0 else 0.0
    return 0.0


def _completed(marks: Sequence[_Mark], end: int) -> list[_Mark]:
    """Every abstained criterion at its worst (-1) or at its best (1)."""

    def extreme(criterion: Criterion) -> float:
        upward = (criterion.weight < 0) == (end < 0)
        return max(criterion.values) if upward else min(criterion.values)

    return [mark if mark.value is not None else _Mark(mark.criterion, extreme(mark.criterion)) for mark in marks]


def _coverage(marks: Sequence[_Mark]) -> float:
    """The share of the weights that was assessed; of the criteria where no criterion has a weight."""
    every = math.fsum(math.fabs(mark.weight) for mark in marks)
    if every == 0:
        return sum(mark.value is not None for mark in marks) / len(marks) if marks else 0.0
    return math.fsum(math.fabs(mark.weight) for mark in marks if mark.value is not None) / every
