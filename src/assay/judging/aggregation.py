"""From votes to a verdict: abstentions are set aside, ties go to the worse side, the order of judges never matters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.judging.criteria import Criterion, CriterionKind, CriterionVerdict, check_strategy, same
from assay.judging.verdicts import (
    FIRST_CALL,
    AggregatedMultiChoiceVerdict,
    JudgeVote,
    MultiChoiceJudgeVote,
    Vote,
    abstained,
    call_of,
    chosen,
)

DEFAULTS: Mapping[CriterionKind, str] = {"binary": "majority", "ordinal": "mean", "nominal": "mode"}
PanelVerdict = CriterionVerdict | AggregatedMultiChoiceVerdict


class RubricWarning(UserWarning):
    """Warns about a property of a panel or a score that affects how it should be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A verdict, whether a tie decided it, and what is odd about it."""

    verdict: PanelVerdict
    by_tie: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class _Ballot:
    """A vote that was cast: an option, or MET (1) and UNMET (0), the judge's weight, and its share of the judge."""

    index: int
    weight: float
    head: float = 1.0


def aggregate(
    criterion: Criterion, votes: Sequence[Vote], strategy: str | None = None, *, min_votes: int = 0
) -> PanelVerdict:
    """Aggregate the votes of a panel on one criterion; the criterion's own aggregation overrides `strategy`.

    >>> votes = [JudgeVote(judge_id=j, verdict=v) for j, v in (("a", "MET"), ("b", "MET"), ("c", "UNMET"))]
    >>> aggregate(Criterion(requirement="Polite"), votes).value
    'MET'
    """
    decision = decide(criterion, votes, strategy, min_votes=min_votes)
    if decision.note is not None:
        warnings.warn(decision.note, RubricWarning, stacklevel=2)
    return decision.verdict


def decide(criterion: Criterion, votes: Sequence[Vote], strategy: str | None = None, *, min_votes: int = 0) -> Decision:
    """The verdict of a panel on one criterion, with whether a tie decided it and what is odd about it."""
    name = criterion.aggregation or strategy or DEFAULTS[criterion.kind]
    check_strategy(name, criterion.kind)
    judged = _judged(criterion, votes)
    if not judged or len(judged) < min_votes:
        return Decision(verdict=_without_votes(criterion, votes))
    ballots = [judge_ballots[0] for judge_ballots in judged] if name in FIRST_ORDER else _shared(judged)
    if criterion.is_binary:
        return _BINARY[name](criterion, ballots)
    return _CHOICE[name](criterion, ballots)


def cast_index(criterion: Criterion, vote: Vote) -> int | None:
    """The option that a vote picks, 1 for MET and 0 for UNMET; None when it was not cast."""
    if vote.is_error:
        return None
    if isinstance(vote, JudgeVote):
        if not criterion.is_binary:
            raise ValueError(f'judge "{vote.judge_id}" votes {vote.verdict.value} on a criterion with options')
        return None if vote.verdict is CriterionVerdict.CANNOT_ASSESS else int(vote.verdict is CriterionVerdict.MET)
    return _picked(criterion, vote)


def _picked(criterion: Criterion, vote: MultiChoiceJudgeVote) -> int | None:
    if criterion.is_binary:
        raise ValueError(f'judge "{vote.judge_id}" picks an option of a criterion that has none')
    if vote.na or vote.selected_index is None:
        return None
    if not 0 <= vote.selected_index < len(criterion.choices):
        raise ValueError(f'judge "{vote.judge_id}" picks option {vote.selected_index}, which is not there')
    return None if criterion.choices[vote.selected_index].na else vote.selected_index


def _judged(criterion: Criterion, votes: Sequence[Vote]) -> list[list[_Ballot]]:
    """The ballots of every judge that cast one: a single one, or that of the first call before the others."""
    judged = [
        [_Ballot(index, vote.weight) for vote in judge_votes if (index := cast_index(criterion, vote)) is not None]
        for judge_votes in _paired(votes)
    ]
    return [judge_ballots for judge_ballots in judged if judge_ballots]


def opinions(criterion: Criterion, votes: Sequence[Vote]) -> list[Vote]:
    """One vote per judge: of several calls, the first that was answered.

    >>> votes = [JudgeVote(judge_id=j, verdict="MET") for j in ("a", "b")]
    >>> [vote.judge_id for vote in opinions(Criterion(requirement="Polite"), votes)]
    ['a', 'b']
    """
    return [
        next((vote for vote in judge_votes if cast_index(criterion, vote) is not None), judge_votes[0])
        for judge_votes in _paired(votes)
    ]


def _paired(votes: Sequence[Vote]) -> list[list[Vote]]:
    """The votes by judge, that of the first call before those of its reverse and its repeats."""
    later = [vote for vote in votes if call_of(vote) != FIRST_CALL]
    if not later:
        return [[vote] for vote in votes]
    paired = [[vote] for vote in votes if call_of(vote) == FIRST_CALL]
    for vote in sorted(later, key=call_of):
        judge_votes = next(
            (
                candidate
                for candidate in paired
                if candidate[0].judge_id == vote.judge_id and call_of(vote) not in map(call_of, candidate)
            ),
            None,
        )
        paired.append([vote]) if judge_votes is None else judge_votes.append(vote)
    return paired


def _shared(judged: Sequence[list[_Ballot]]) -> list[_Ballot]:
    """Every ballot at its share of its judge: calls that gave no answer leave theirs to the rest."""
    return [
        _Ballot(ballot.index, ballot.weight / len(judge_ballots), head=1 / len(judge_ballots))
        for judge_ballots in judged
        for ballot in judge_ballots
    ]


def order_sensitive(criterion: Criterion, votes: Sequence[Vote]) -> bool:
    """Return whether a judge answered a question differently because its options were in another order."""
    if not any(isinstance(vote, MultiChoiceJudgeVote) and vote.reversed_order for vote in votes):
        return False
    for judge_votes in _paired(votes):
        by_repeat: dict[int, set[int]] = {}
        for vote in judge_votes:
            index = cast_index(criterion, vote)
            if index is not None:
                by_repeat.setdefault(vote.repeat, set()).add(index)
        if any(len(answers) > 1 for answers in by_repeat.values()):
            return True
    return False


def _without_votes(criterion: Criterion, votes: Sequence[Vote]) -> PanelVerdict:
    """An abstention; if every vote is an error, no option is picked: an outage is not an opinion."""
    if criterion.is_binary or not all_errors(votes):
        return abstained(criterion)
    return AggregatedMultiChoiceVerdict(value=0.0, aggregated_value=0.0, na=True, error=failure_of(votes))


def all_errors(votes: Sequence[Vote]) -> bool:
    """Return whether there are votes and all of them are errors."""
    return bool(votes) and all(vote.is_error for vote in votes)


def failure_of(votes: Sequence[Vote]) -> str:
    """Explain in one sentence why there is no valid vote."""
    return "; ".join(f"{vote.judge_id}: {vote.error_category} ({vote.reason})" for vote in votes if vote.is_error)


def _met(met: bool, *, by_tie: bool = False) -> Decision:
    return Decision(verdict=CriterionVerdict.MET if met else CriterionVerdict.UNMET, by_tie=by_tie)


def _heads(criterion: Criterion, ballots: Sequence[_Ballot], weigh: Callable[[_Ballot], float]) -> Decision:
    """The side with more; a tie goes to the side that costs more."""
    # fsum does not depend on the order of its terms: whether votes tie must not depend on who answered first
    met = math.fsum(weigh(ballot) for ballot in ballots if ballot.index == 1)
    unmet = math.fsum(weigh(ballot) for ballot in ballots if ballot.index == 0)
    if same(met, unmet):
        return _met(criterion.weight < 0, by_tie=True)
    return _met(met > unmet)


def _head(ballot: _Ballot) -> float:
    return ballot.head


def _weight(ballot: _Ballot) -> float:
    return ballot.weight


def _all_met(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    return _met(all(ballot.index == 1 for ballot in ballots))


def _any_met(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    return _met(any(ballot.index == 1 for ballot in ballots))


def _by_sign(
    at_gain: Callable[[Criterion, Sequence[_Ballot]], Decision],
    at_fault: Callable[[Criterion, Sequence[_Ballot]], Decision],
) -> Callable[[Criterion, Sequence[_Ballot]], Decision]:
    return lambda criterion, ballots: (at_fault if criterion.weight < 0 else at_gain)(criterion, ballots)


def _snapped(criterion: Criterion, number: float) -> Decision:
    """Return the option nearest to a value; two equally near options are a tie."""
    open_to_choice = [place for place, option in enumerate(criterion.choices) if not option.na]
    distances = {place: math.fabs(criterion.choices[place].value - number) for place in open_to_choice}
    least = min(distances.values())
    nearest = [place for place, distance in distances.items() if same(distance, least)]
    verdict = chosen(criterion, criterion.worst_option_among(nearest))
    # options of equal value are no tie: whichever is taken, the score is the same
    tied = len({criterion.choices[place].value for place in nearest}) > 1
    return Decision(verdict=verdict.model_copy(update={"aggregated_value": number}), by_tie=tied)


def _mean(criterion: Criterion, ballots: Sequence[_Ballot], weigh: Callable[[_Ballot], float] = _head) -> Decision:
    pairs = sorted((criterion.choices[ballot.index].value, weigh(ballot)) for ballot in ballots)
    total = math.fsum(weight for _, weight in pairs)
    mean = math.fsum(value * weight for value, weight in pairs) / total
    # a mean lies between the least and the greatest vote, also after rounding: unanimity stays exact
    return _snapped(criterion, min(max(mean, pairs[0][0]), pairs[-1][0]))


def _median(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    """The value with half of the panel on either side; halfway where two values part it evenly."""
    pairs = sorted((criterion.choices[ballot.index].value, ballot.head) for ballot in ballots)
    # heads and not votes: a judge that was asked several times counts once in all
    half = math.fsum(head for _, head in pairs) / 2
    place = 0
    while not same(below := math.fsum(head for _, head in pairs[: place + 1]), half) and below < half:
        place += 1
    value = pairs[place][0]
    return _snapped(criterion, (value + pairs[place + 1][0]) / 2 if same(below, half) else value)


def _most(criterion: Criterion, ballots: Sequence[_Ballot], weigh: Callable[[_Ballot], float]) -> Decision:
    indices = {ballot.index for ballot in ballots}
    sums = {place: math.fsum(weigh(b) for b in ballots if b.index == place) for place in indices}
    most = max(sums.values())
    top = [place for place, total in sums.items() if same(total, most)]
    return Decision(verdict=chosen(criterion, criterion.worst_option_among(top)), by_tie=len(top) > 1)


def _lowest(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    place = min({ballot.index for ballot in ballots}, key=lambda index: (criterion.choices[index].value, index))
    return Decision(verdict=chosen(criterion, place))


def _highest(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    place = min({ballot.index for ballot in ballots}, key=lambda index: (-criterion.choices[index].value, index))
    return Decision(verdict=chosen(criterion, place))


def _mode(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    return _most(criterion, ballots, _head)


def _unanimous(criterion: Criterion, ballots: Sequence[_Ballot]) -> Decision:
    """The option of all; a panel that disagrees abstains where the criterion lets it."""
    if len({ballot.index for ballot in ballots}) == 1:
        return Decision(verdict=chosen(criterion, ballots[0].index))
    if criterion.na_index is not None:
        return Decision(verdict=chosen(criterion, criterion.na_index))
    name = criterion.name or criterion.requirement
    note = f'the judges disagree on "{name}", which has no NA option: the mode was taken'
    mode = _mode(criterion, ballots)
    return Decision(verdict=mode.verdict, by_tie=mode.by_tie, note=note)


_Strategy = Callable[[Criterion, Sequence[_Ballot]], Decision]
_BINARY: Mapping[str, _Strategy] = {
    "majority": lambda criterion, ballots: _heads(criterion, ballots, _head),
    "weighted": lambda criterion, ballots: _heads(criterion, ballots, _weight),
    "unanimous": _all_met,
    "any": _any_met,
    "worst": _by_sign(_all_met, _any_met),
    "best": _by_sign(_any_met, _all_met),
}
_CHOICE: Mapping[str, _Strategy] = {
    "mean": _mean,
    "median": _median,
    "weighted_mean": lambda criterion, ballots: _mean(criterion, ballots, _weight),
    "mode": _mode,
    "weighted_mode": lambda criterion, ballots: _most(criterion, ballots, _weight),
    "min": _lowest,
    "max": _highest,
    "unanimous": _unanimous,
    "worst": _by_sign(_lowest, _highest),
    "best": _by_sign(_highest, _lowest),
}
FIRST_ORDER = ("min", "max", "unanimous", "any", "worst", "best")
"""Strategies that one answer decides: further calls of a judge would only make them more extreme."""
BY_WEIGHT = ("weighted", "weighted_mean", "weighted_mode")
"""Strategies in which the weights of judges count."""
LENIENT_ON_FAULTS = ("min", "unanimous")
"""Strategies that sound strict, and let a fault pass when a single judge does."""


def pairwise_agreement(criterion: Criterion, votes: Sequence[Vote]) -> float | None:
    """The share of pairs of cast votes that agree; None with fewer than two.

    >>> votes = [JudgeVote(judge_id=j, verdict=v) for j, v in (("a", "MET"), ("b", "MET"), ("c", "UNMET"))]
    >>> round(pairwise_agreement(Criterion(requirement="Polite"), votes), 4)
    0.3333
    """
    cast = _cast(criterion, votes)
    n = len(cast)
    if n < 2:
        return None
    return sum(cast.count(index) * (cast.count(index) - 1) for index in set(cast)) / (n * (n - 1))


def agreement_with(criterion: Criterion, votes: Sequence[Vote], verdict: PanelVerdict) -> float | None:
    """The share of cast votes that are equal to the final verdict; None with fewer than two."""
    cast = _cast(criterion, votes)
    if len(cast) < 2:
        return None
    if isinstance(verdict, CriterionVerdict):
        final = {CriterionVerdict.MET: 1, CriterionVerdict.UNMET: 0}.get(verdict)
    else:
        final = verdict.selected_index
    return cast.count(final) / len(cast) if final is not None else 0.0


def _cast(criterion: Criterion, votes: Sequence[Vote]) -> list[int]:
    """One answer per judge, that of the first call: repeats would let a judge agree with itself."""
    return [judge_ballots[0].index for judge_ballots in _judged(criterion, votes)]
