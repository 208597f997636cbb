"""Combine several answers to a sample into one score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb
from statistics import median, mode
from typing import Any

from assay.errors import SpecError
from assay.spec.task import Aggregator, ScoreAggregator, Trials

PLUG_IN = "_plug_in"
"""The suffix of the plug-in value of pass@k and pass^k, listed beside the unbiased one."""
SHARE = (0.0, 1.0)
_PASS = ("pass@k", "pass^k")
# of values that come equally often the mode is the one that came first, in the order of the trials
_PICKS: Mapping[str, Callable[[Sequence[float]], float]] = {"median": median, "mode": mode, "min": min, "max": max}
Range = tuple[float, float]


def aggregate(scores: Sequence[Mapping[str, Any]], trials: Trials) -> dict[str, float | None]:
    """One score from the scored trials of a sample.

    >>> trials = Trials(num_trials=2)
    >>> aggregate([{"is_correct": 1.0}, {"is_correct": 0.0}], trials)
    {'is_correct': 0.5}
    """
    names = dict.fromkeys(name for score in scores for name in score)
    rules: dict[str, list[Aggregator]] = {}
    for rule in trials.score_aggregators or ():
        rules.setdefault(rule.score_name, []).append(rule.aggregator)
    result: dict[str, float | None] = {}
    for name in names:
        values = [score[name] for score in scores if isinstance(score.get(name), int | float)]
        if not values:
            continue
        if name not in rules:
            # a score that is called as a rule's result takes its place: importers bring values that no rule gives
            result[name] = sum(values) / len(values)
        for aggregator in rules.get(name, ()):
            result |= _by_rule(name, values, aggregator)
    return result


def rule_of(field: str, trials: Trials | None) -> ScoreAggregator | None:
    """Return the rule that produces a field's value; None for the mean over trials of the score with that name."""
    rules = trials.score_aggregators or () if trials is not None else ()
    return next((rule for rule in rules if (rule.aggregator.score_name or rule.score_name) == field), None)


def chance_over_trials(rule: ScoreAggregator | None, trials: Trials | None) -> Callable[[float], float]:
    """Return the chance level of a combined score, from that of a single trial.

    >>> trials = Trials(num_trials=4, score_aggregators=[
    ...     ScoreAggregator(score_name="ok", aggregator=Aggregator(function="pass@k", k=2))])
    >>> chance_over_trials(trials.score_aggregators[0], trials)(0.25)
    0.4375
    """
    if rule is None or trials is None or rule.aggregator.function == "mean":
        return lambda chance: chance
    if rule.aggregator.function in ("median", "mode"):
        # at a tie the median is 1/2, and the mode is the first trial, which is as likely one as the other
        half = trials.num_trials / 2
        return lambda chance: (_at_least(half, trials.num_trials, chance) + _above(half, trials.num_trials, chance)) / 2
    if rule.aggregator.function == "at_least_k":
        return lambda chance: _at_least(rule.aggregator.k or 0, trials.num_trials, chance)
    times = rule.aggregator.k or trials.num_trials
    if rule.aggregator.function in ("pass@k", "max"):
        return lambda chance: 1 - (1 - chance) ** times
    return lambda chance: float(chance**times)


def _at_least(least: float, n: int, chance: float) -> float:
    """The chance of at least this many successes in n trials.

    >>> _at_least(2, 2, 0.5)
    0.25
    """
    return sum(comb(n, c) * chance**c * (1 - chance) ** (n - c) for c in range(n + 1) if c >= least)


def _above(bound: float, n: int, chance: float) -> float:
    """The chance of more successes than this in n trials."""
    return 1 - _at_least(n - bound, n, 1 - chance)


def why_undefined(field: str, trials: Trials | None) -> str | None:
    """Explain why pass@k or pass^k is always undefined: k exceeds the number of trials."""
    rule = rule_of(field, trials)
    if rule is None or trials is None or (rule.aggregator.k or 0) <= trials.num_trials:
        return None
    function = rule.aggregator.function.replace("k", str(rule.aggregator.k))
    return f"{function} needs at least {rule.aggregator.k} trials, and there are {trials.num_trials}"


def ranges_of(declared: Mapping[str, Range], trials: Trials | None) -> dict[str, Range]:
    """Return the bounds of the combined fields: `pass@k` and `pass^k` are shares.

    >>> ranges_of({"is_correct": (0.0, 1.0)}, None)
    {'is_correct': (0.0, 1.0)}
    """
    ranges = dict(declared)
    for rule in trials.score_aggregators or () if trials is not None else ():
        called = rule.aggregator.score_name or rule.score_name
        if rule.aggregator.function in _PASS:
            ranges |= {called: SHARE, f"{called}{PLUG_IN}": SHARE}
        elif rule.aggregator.function == "at_least_k":
            ranges[called] = SHARE
        elif rule.score_name in declared:
            ranges[called] = declared[rule.score_name]
    return ranges


def _by_rule(name: str, values: Sequence[float], rule: Aggregator) -> dict[str, float | None]:
    called = rule.score_name or name
    if rule.function == "mean":
        return {called: sum(values) / len(values)}
    if rule.function not in ("at_least_k", *_PASS):
        return {called: float(_PICKS[rule.function](values))}
    assert rule.k is not None
    odd = next((value for value in values if value not in (0, 1)), None)
    if odd is not None and rule.threshold is None:
        raise SpecError(
            f'{rule.function} counts successes: "{name}" must be 0 or 1 in every trial, but one is {odd:g}; '
            'say with "threshold" from which score on a trial is a success'
        )
    least = 1 if rule.threshold is None else rule.threshold
    n, c = len(values), sum(value >= least for value in values)
    if rule.function == "at_least_k":
        return {called: float(c >= rule.k)}
    some = rule.function == "pass@k"
    return {
        called: unbiased_pass_at_k(n, c, rule.k) if some else unbiased_pass_hat_k(n, c, rule.k),
        called + PLUG_IN: pass_at_k(n, c, rule.k) if some else pass_hat_k(n, c, rule.k),
    }


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that at least one of k tries succeeds, using the observed share of successes.

    >>> round(pass_at_k(5, 2, 3), 3)
    0.784
    """
    return 1 - (1 - c / n) ** k


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return the probability that all of k tries succeed, using the observed share of successes.

    >>> round(pass_hat_k(5, 2, 3), 3)
    0.064
    """
    return float((c / n) ** k)


def unbiased_pass_at_k(n: int, c: int, k: int) -> float | None:
    """The share of k-subsets of the trials with a success, which is pass@k without bias; None if n < k.

    >>> unbiased_pass_at_k(5, 2, 3)
    0.9
    """
    return None if n < k else 1 - comb(n - c, k) / comb(n, k)


def unbiased_pass_hat_k(n: int, c: int, k: int) -> float | None:
    """The share of k-subsets of the trials that are all successes, which is pass^k without bias; None if n < k.

    >>> unbiased_pass_hat_k(5, 2, 3)
    0.0
    """
    return None if n < k else comb(c, k) / comb(n, k)
