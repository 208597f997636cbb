"""What the judges of a panel, and the criteria of a rubric, say together and apart.

Clemen, R. T. and Winkler, R. L. (1985), Limits for the precision and value of information from dependent
sources, Operations Research 33: the equivalent number of independent sources. Kish, L. (1965), Survey
Sampling: the same number as a design effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import Clusters, FloatArray, units
from assay.stats.correlation import LEAST, Name, correlation
from assay.stats.interval import no_interval, ratio
from assay.stats.jackknife import METHOD, LeftOut, fisher_interval
from assay.stats.kappa import Weighting, cohens_kappa
from assay.stats.ratings import Ratings
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PairValue:
    """A number of two judges, or of two criteria, by their places."""

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
    ratings: Ratings, weighting: Weighting = "none", *, rng: np.random.Generator, level: float = 0.95
) -> tuple[PairValue, ...]:
    """Cohen's kappa of every two raters, on the items that both rated.

    >>> found = pairwise_kappas(Ratings.of([[1, 1, 2], [2, 2, 1], [1, 1, 1]]), rng=np.random.default_rng(1))
    >>> [(pair.first, pair.second, round(pair.value.value, 2)) for pair in found]
    [(0, 1, 1.0), (0, 2, -0.5), (1, 2, -0.5)]
    """
    return tuple(
        PairValue(
            first=first,
            second=second,
            value=cohens_kappa(ratings.pair(first, second), ratings.values, weighting, rng=rng, level=level),
        )
        for first, second in combinations(range(ratings.raters), 2)
    )


def leave_one_out(ratings: Ratings, number: Callable[[Ratings], MetricValue]) -> tuple[MetricValue, ...]:
    """A number of the panel without each of its judges in turn: agreement that rises without one names it.

    >>> found = leave_one_out(Ratings.of([[1, 1, 2], [2, 2, 1]]), panel_agreement)
    >>> [value.value for value in found]
    [0.0, 0.0, 1.0]
    """
    return tuple(number(ratings.without(rater)) for rater in range(ratings.raters))


def effective_judges(table: npt.ArrayLike, clusters: Clusters = None, *, level: float = 0.95) -> MetricValue:
    """How many independent judges say as much as these J: J / (1 + (J - 1) r).

    r is the mean correlation of two judges over all pairs of them. Give the judges' errors (vote - truth)
    where the truth is known, else their votes: one row an item, one column a judge, NaN where one is missing.
    However many judges are added, the number stays below 1 / r. Pairs in which a judge never varies have no
    correlation and are left out of the mean; fewer than 4 shared items count as none.

    >>> x = np.array([0.0, 1, 2, 3, 4, 5])
    >>> round(effective_judges(np.column_stack([x, x[[1, 0, 3, 2, 5, 4]]])).value, 3)
    1.094
    """
    numbers = np.asarray(table, dtype=np.float64)
    judges = numbers.shape[1]
    rows, pairs = _moments(numbers)
    if not len(pairs):
        return MetricValue(value=None, n=len(numbers), reason="no two judges vary on 4 shared items")
    found = units(*rows.T, clusters=clusters)
    total = found.counts @ found.sums
    mean = float(_mean_correlation(total))
    share = 1 + (judges - 1) * mean
    if share <= 1e-12:
        return MetricValue(value=None, n=len(numbers), reason="the judges contradict each other")
    if found.n < LEAST:
        bounds = no_interval(f"needs at least {LEAST} clusters", level=level, method=METHOD)
        return MetricValue(value=judges / share, n=len(numbers), interval=bounds)
    without = _mean_correlation(total - found.sums)
    left = LeftOut(estimate=mean, without=without, counts=found.counts, clustered=found.clusters is not None)
    bounds = fisher_interval(left, level=level)
    low, high = (
        None if r is None or 1 + (judges - 1) * r <= 0 else judges / (1 + (judges - 1) * r)
        for r in (bounds.high, bounds.low)
    )
    return MetricValue(value=judges / share, n=len(numbers), interval=replace(bounds, low=low, high=high))


def _moments(numbers: FloatArray) -> tuple[FloatArray, list[tuple[int, int]]]:
    """Per item, for each two judges that vary on shared items: 1, x, y, xx, yy, xy, centred and scaled."""
    pairs, columns = [], []
    for first, second in combinations(range(numbers.shape[1]), 2):
        x, y = numbers[:, first], numbers[:, second]
        both = ~np.isnan(x) & ~np.isnan(y)
        if both.sum() < LEAST or np.ptp(x[both]) == 0 or np.ptp(y[both]) == 0:
            continue
        dx, dy = ((np.where(both, side, 0.0) - side[both].mean()) / np.ptp(side[both]) * both for side in (x, y))
        columns.append(np.column_stack([both, dx, dy, dx**2, dy**2, dx * dy]))
        pairs.append((first, second))
    return (np.concatenate(columns, axis=1) if columns else np.zeros((len(numbers), 0))), pairs


def _mean_correlation(sums: FloatArray) -> FloatArray:
    n, x, y, xx, yy, xy = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 6), -1, 0)
    n = np.maximum(n, 1.0)
    spread = (xx - x**2 / n) * (yy - y**2 / n)
    r = np.divide(xy - x * y / n, np.sqrt(np.abs(spread)), out=np.full_like(xy, np.inf), where=spread > 1e-18)
    return np.asarray(r.mean(axis=-1))


def constant_criteria(table: npt.ArrayLike) -> tuple[int, ...]:
    """The criteria, one a column, that gave every item the same value: they tell no items apart.

    >>> constant_criteria([[1, 0.5], [1, 1.0], [np.nan, 0.0]])
    (0,)
    """
    columns = np.asarray(table, dtype=np.float64).T
    given = [column[~np.isnan(column)] for column in columns]
    return tuple(place for place, values in enumerate(given) if len(values) and np.ptp(values) == 0)


def redundant_criteria(
    table: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    threshold: float = 0.9,
    name: Name = "spearman",
    level: float = 0.95,
) -> tuple[PairValue, ...]:
    """Two criteria, one a column, whose correlation is beyond the threshold, either way: the strongest first.

    >>> found = redundant_criteria([[1, 2, 9], [2, 3, 1], [3, 5, 8], [4, 9, 2]])
    >>> [(pair.first, pair.second) for pair in found]
    [(0, 1)]
    """
    numbers = np.asarray(table, dtype=np.float64)
    found = []
    for first, second in combinations(range(numbers.shape[1]), 2):
        both = ~np.isnan(numbers[:, first]) & ~np.isnan(numbers[:, second])
        ids = None if clusters is None else clusters[both]
        value = correlation(numbers[both, first], numbers[both, second], name, ids, level=level)
        if value.value is not None and abs(value.value) > threshold:
            found.append(PairValue(first=first, second=second, value=value))
    return tuple(sorted(found, key=lambda pair: -abs(pair.value.value or 0.0)))
