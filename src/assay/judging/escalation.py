"""Escalation: which verdicts of a first judge are doubtful, and so go to a stronger panel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import Problem, SpecError
from assay.judging.aggregation import all_errors, cast_index, decide
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.judge import Judge
from assay.judging.rubric import Rubric
from assay.judging.verdicts import Vote, is_abstention
from assay.spec.nearest import listing, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """The judges that decide where the first judges are unsure, and how sure the first ones must be.

    A criterion is escalated if the first judges failed, abstained, have no confidence, or have one below the threshold:
    its own in `per_criterion`, by its name, else `threshold`.
    """

    judges: tuple[Judge, ...]
    threshold: float
    per_criterion: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_thresholds(self.threshold, self.per_criterion)

    def wants(self, name: str, confidence: float | None) -> bool:
        """Return whether a criterion with this confidence goes to the panel."""
        return is_doubtful(confidence, self.per_criterion.get(name, self.threshold))


def is_doubtful(confidence: float | None, threshold: float) -> bool:
    """Return whether a verdict is escalated at a threshold; a verdict without a confidence always is.

    >>> is_doubtful(0.8, 0.8), is_doubtful(0.79, 0.8), is_doubtful(None, 0.0)
    (False, True, True)
    """
    return confidence is None or confidence < threshold


def check_thresholds(threshold: object, per_criterion: Mapping[str, object] | None = None) -> None:
    """Raise a SpecError unless every threshold is a number from 0 to 1."""
    named = {f'the threshold of "{name}"': value for name, value in (per_criterion or {}).items()}
    for subject, value in {"the threshold": threshold, **named}.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise SpecError(f"{subject} of an escalation must be a number between 0 and 1, not {value!r}")


def check_names(per_criterion: Iterable[str], rubrics: Iterable[Rubric]) -> None:
    """Raise a SpecError for a threshold of a criterion that no rubric has, with the name that was probably meant."""
    criteria = list(dict.fromkeys(name for rubric in rubrics for name in rubric.names))
    for name in per_criterion:
        if name not in criteria:
            message = f'unknown criterion "{name}" in per_criterion; the criteria are {listing(criteria)}'
            raise SpecError(Problem(message=message, suggestion=nearest(name, criteria)))


def confidence_of(criterion: Criterion, votes: Sequence[Vote], strategy: str | None = None) -> float | None:
    """Return the judges' confidence in their verdict on a criterion: the mean, over their votes, of the support for it.

    A vote for the verdict supports it by its own probability, or by 1 where the model returned none; any other vote
    supports it by 0. So one vote with logprobs has the probability of the chosen option, and repeats without logprobs
    have the share that agrees. None if all votes failed, if the verdict is an abstention, and for a single vote
    without a probability, which says nothing about how sure its judge is.

    >>> from assay.judging.verdicts import JudgeVote
    >>> polite = Criterion(requirement="Polite")
    >>> confidence_of(polite, [JudgeVote(judge_id="a", verdict=v, repeat=n) for n, v in enumerate(["MET", "MET"])])
    1.0
    >>> confidence_of(polite, [JudgeVote(judge_id="a", verdict="MET", confidence=0.7)])
    0.7
    """
    answered = [vote for vote in votes if not vote.is_error]
    if not answered or all_errors(votes):
        return None
    if len(answered) == 1 and answered[0].confidence is None:
        return None
    verdict = decide(criterion, votes, strategy).verdict
    if is_abstention(verdict):
        return None
    # as `cast_index` counts: 1 for MET and 0 for UNMET
    if isinstance(verdict, CriterionVerdict):
        final: int | None = int(verdict is CriterionVerdict.MET)
    else:
        final = verdict.selected_index
    support = [
        (1.0 if vote.confidence is None else vote.confidence) if cast_index(criterion, vote) == final else 0.0
        for vote in answered
    ]
    return math.fsum(support) / len(support)


def deciding(votes: Iterable[Vote]) -> list[Vote]:
    """The votes that count: those of the first judges are superseded where a panel took over."""
    return [vote for vote in votes if not vote.superseded]


def first_votes(votes: Sequence[Vote]) -> list[Vote]:
    """The votes of the first judges, which are the superseded ones where a panel took over."""
    superseded = [vote for vote in votes if vote.superseded]
    return superseded or list(votes)


def escalation_notes(criteria: Iterable[tuple[Criterion, Sequence[Vote]]]) -> list[str]:
    """Return a note for each first judge whose verdicts were all escalated because its confidence is unknown."""
    silent: list[str] = []
    for criterion, votes in criteria:
        first = [vote for vote in votes if vote.superseded and cast_index(criterion, vote) is not None]
        if len(first) == 1 and first[0].confidence is None:
            silent.append(first[0].judge_id)
    return [
        f'judge "{judge}" has no confidence, so all its verdicts are escalated: its replies have no logprobs and it is '
        "asked once per criterion; request logprobs from the model, or set repeats to at least 2"
        for judge in dict.fromkeys(silent)
    ]
