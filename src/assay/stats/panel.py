"""Agreement among the judges of a panel and among the criteria of a rubric.

Clemen, R. T. and Winkler, R. L. (1985), Limits for the precision and value of information from dependent
sources, Operations Research 33: the equivalent number of independent sources. Kish, L. (1965), Survey
Sampling: the same number as a design effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from assay.stats.additive_stats import LEAST_ITEMS, NOT_ASKED, TOO_FEW
from assay.stats.bayes import METHOD as KAPPA_METHOD
from assay.stats.clusters import Clusters, FloatArray
from assay.stats.correlation import LEAST, Name, correlation
from assay.stats.interval import no_interval, ratio
from assay.stats.jackknife import METHOD, LeftOut, fisher_interval
from assay.stats.kappa import Weighting, cohens_kappa, distances, kappa_sums
from assay.stats.ratings import MISSING, Ratings
from assay.types import MetricValue

BLOCK_NUMBERS = 400_000
"""The number of values in a block of pairs of judges: small enough for the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairValue:
    """A statistic of two judges, or of two criteria, given by index."""

    first: int
    second: int
    value: MetricValue


def panel_agreement(ratings: Ratings, *, level: float = 0.95) -> MetricValue:
    """The mean over items of the share of pairs of votes that agree, over items with at least two votes.

    >>> round(panel_agreement(Ratings.of([[1, 1, 2], [1, 1, 1]])).value, 3)
    0.667
    """
    counts = ratings.counts()
    size = counts.sum(axis=1)
    used = size >= 2
    agreeing = (counts * (counts - 1)).sum(axis=1)[used] / (size * (size - 1))[used]
    clusters = None if ratings.clusters is None else ratings.clusters[used]
    return ratio(agreeing, np.ones(len(agreeing)), clusters, level=level, undefined="no item has two votes")


def pairwise_kappas(
    ratings: Ratings, weighting: Weighting = "none", *, rng: np.random.Generator | None, level: float = 0.95
) -> tuple[PairValue, ...]:
    """Cohen's kappa of every two raters, on the items that both rated; without `rng` the values have no interval.

    >>> pairs = pairwise_kappas(Ratings.of([[1, 1, 2], [2, 2, 1], [1, 1, 1]]), rng=np.random.default_rng(1))
    >>> [(pair.first, pair.second, round(pair.value.value, 2)) for pair in pairs]
    [(0, 1, 1.0), (0, 2, -0.5), (1, 2, -0.5)]
    """
    if rng is None:
        return _plain_kappas(ratings, weighting, level)
    return tuple(
        PairValue(
            first=first,
            second=second,
            value=cohens_kappa(ratings.pair(first, second), ratings.values, weighting, rng=rng, level=level),
        )
        for first, second in combinations(range(ratings.raters), 2)
    )


def _plain_kappas(ratings: Ratings, weighting: Weighting, level: float) -> tuple[PairValue, ...]:
    """The kappas of all pairs from their confusion tables, counted for one rater and all later ones at once."""
    k, none = ratings.options, no_interval(NOT_ASKED, level=level, method=KAPPA_METHOD)
    distance = distances(ratings.values, weighting)
    pairs: list[PairValue] = []
    for first in range(ratings.raters - 1):
        others = ratings.codes[:, first + 1 :]
        one = ratings.codes[:, first, None]
        both = (one != MISSING) & (others != MISSING)
        cells = (np.arange(others.shape[1]) * k + one) * k + others
        tables = np.bincount(cells[both], minlength=others.shape[1] * k * k).astype(np.float64)
        tables = tables.reshape(-1, k, k)
        statistic = kappa_sums(ratings.pair(first, first + 1), ratings.values, weighting)
        hits = (
            np.diagonal(tables, axis1=1, axis2=2)
            if weighting == "none"
            else (tables * distance).sum(axis=(1, 2))[:, None]
        )
        sums = np.concatenate([hits, tables.sum(axis=2), tables.sum(axis=1)], axis=1)
        items = both.sum(axis=0)
        enough = items >= LEAST_ITEMS
        kappas = np.full(len(sums), np.nan)
        kappas[enough] = statistic.value(sums[enough])
        for place, (kappa, n) in enumerate(zip(kappas.tolist(), items.tolist(), strict=True)):
            if math.isnan(kappa):
                value = MetricValue(value=None, n=n, reason=TOO_FEW if n < LEAST_ITEMS else statistic.undefined)
            else:
                value = MetricValue(value=kappa, n=n, interval=none)
            pairs.append(PairValue(first=first, second=first + 1 + place, value=value))
    return tuple(pairs)


def leave_one_out(ratings: Ratings, number: Callable[[Ratings], MetricValue]) -> tuple[MetricValue, ...]:
    """Compute a statistic of the panel without each judge in turn: agreement that rises without a judge points at it.

    >>> values = leave_one_out(Ratings.of([[1, 1, 2], [2, 2, 1]]), panel_agreement)
    >>> [value.value for value in values]
    [0.0, 0.0, 1.0]
    """
    return tuple(number(ratings.without(rater)) for rater in range(ratings.raters))


def effective_judges(table: npt.ArrayLike, clusters: Clusters = None, *, level: float = 0.95) -> MetricValue:
    """Return the number of independent judges equivalent to these J: J / (1 + (J - 1) r).

    r is the mean correlation of two judges over all pairs of them. Give the judges' errors (vote - truth)
    where the truth is known, else their votes: one row per item, one column per judge, NaN where one is missing.
    However many judges are added, the number stays below 1 / r. Pairs in which a judge never varies have no
    correlation and are left out of the mean; fewer than 4 shared items count as none.

    >>> x = np.array([0.0, 1, 2, 3, 4, 5])
    >>> round(effective_judges(np.column_stack([x, x[[1, 0, 3, 2, 5, 4]]])).value, 3)
    1.094
    """
    numbers = np.asarray(table, dtype=np.float64)
    judges = numbers.shape[1]
    mean, without, clustered = _mean_correlations(numbers, clusters)
    if mean is None:
        return MetricValue(value=None, n=len(numbers), reason="no two judges vary on 4 shared items")
    share = 1 + (judges - 1) * mean
    if share <= 1e-12:
        return MetricValue(value=None, n=len(numbers), reason="the judges contradict each other")
    if len(without) < LEAST:
        bounds = no_interval(f"needs at least {LEAST} clusters", level=level, method=METHOD)
        return MetricValue(value=judges / share, n=len(numbers), interval=bounds)
    bounds = fisher_interval(LeftOut(estimate=mean, without=without, clustered=clustered), level=level)
    low, high = (
        None if r is None or 1 + (judges - 1) * r <= 0 else judges / (1 + (judges - 1) * r)
        for r in (bounds.high, bounds.low)
    )
    error = bounds.standard_error
    error = None if error is None else error * judges * (judges - 1) / share**2
    interval = replace(bounds, low=low, high=high, standard_error=error)
    return MetricValue(value=judges / share, n=len(numbers), interval=interval)


def _mean_correlations(numbers: FloatArray, clusters: Clusters) -> tuple[float | None, FloatArray, bool]:
    """The mean correlation of two judges, the same without each unit, and whether units are clusters of items.

    Pairs are taken in blocks: the moments of all pairs of 88 judges at once would fill 200 MB.
    """
    order = np.arange(len(numbers)) if clusters is None else np.argsort(clusters, kind="stable")
    ids = order if clusters is None else clusters[order]
    numbers = numbers[order]
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if len(ids) else order
    clustered = len(starts) < len(numbers)
    first, second = np.triu_indices(numbers.shape[1], k=1)
    cast = ~np.isnan(numbers)
    filled = np.where(cast, numbers, 0.0)
    total, without, pairs = 0.0, np.zeros(len(starts)), 0
    block = max(1, BLOCK_NUMBERS // max(1, len(numbers)))
    for start in range(0, len(first), block):
        sides = first[start : start + block], second[start : start + block]
        both = cast[:, sides[0]] & cast[:, sides[1]]
        n = both.sum(axis=0)
        moments = [both.astype(np.float64)]
        varies = n >= LEAST
        for side in sides:
            values = filled[:, side]
            width = np.where(both, values, -np.inf).max(axis=0) - np.where(both, values, np.inf).min(axis=0)
            varies &= width > 0
            middle = (values * both).sum(axis=0) / np.maximum(n, 1)
            moments.append((values - middle) / np.where(varies, width, 1.0) * both)
        _, x, y = moments
        sums = [moment[:, varies] for moment in (*moments, x**2, y**2, x * y)]
        if clustered:
            sums = [np.add.reduceat(moment, starts, axis=0) for moment in sums]
        totals = [moment.sum(axis=0) for moment in sums]
        total += float(_correlations(*totals).sum())
        without += _correlations(*(all_of - unit_part for all_of, unit_part in zip(totals, sums, strict=True))).sum(
            axis=-1
        )
        pairs += int(varies.sum())
    return (None, without, clustered) if not pairs else (total / pairs, without / pairs, clustered)


def _correlations(
    n: FloatArray, x: FloatArray, y: FloatArray, xx: FloatArray, yy: FloatArray, xy: FloatArray
) -> FloatArray:
    n = np.maximum(n, 1.0)
    spread = (xx - x**2 / n) * (yy - y**2 / n)
    r = np.divide(xy - x * y / n, np.sqrt(np.abs(spread)), out=np.full_like(xy, np.inf), where=spread > 1e-18)
    return np.asarray(r)


def constant_criteria(table: npt.ArrayLike) -> tuple[int, ...]:
    """Return the criteria, one per column, that gave every item the same value and therefore do not distinguish items.

    >>> constant_criteria([[1, 0.5], [1, 1.0], [np.nan, 0.0]])
    (0,)
    """
    columns = np.asarray(table, dtype=np.float64).T
    present = [column[~np.isnan(column)] for column in columns]
    return tuple(place for place, values in enumerate(present) if len(values) and np.ptp(values) == 0)


def redundant_criteria(
    table: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    threshold: float = 0.9,
    name: Name = "spearman",
    level: float = 0.95,
) -> tuple[PairValue, ...]:
    """Return pairs of criteria, one per column, whose absolute correlation exceeds the threshold, strongest first.

    >>> pairs = redundant_criteria([[1, 2, 9], [2, 3, 1], [3, 5, 8], [4, 9, 2]])
    >>> [(pair.first, pair.second) for pair in pairs]
    [(0, 1)]
    """
    numbers = np.asarray(table, dtype=np.float64)
    pairs = []
    for first, second in combinations(range(numbers.shape[1]), 2):
        both = ~np.isnan(numbers[:, first]) & ~np.isnan(numbers[:, second])
        ids = None if clusters is None else clusters[both]
        value = correlation(numbers[both, first], numbers[both, second], name, ids, level=level)
        if value.value is not None and abs(value.value) > threshold:
            pairs.append(PairValue(first=first, second=second, value=value))
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.value.value or 0.0)))
