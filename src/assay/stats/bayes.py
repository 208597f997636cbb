"""The Bayesian bootstrap of statistics of a whole confusion table: kappas, MCC, macro averages.

Rubin, D. B. (1981), The Bayesian bootstrap, Annals of Statistics 9. Each independent unit gets a Gamma(1)
weight; a few pseudo-items, spread evenly over all pairs of classes, keep every resample defined and give a
perfect table a width. Without them a percentile interval of kappa near 1 covers 61 % instead of 95 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.stats.classification import Marginals, Pairs, Statistic, marginals
from assay.stats.clusters import FloatArray, IntArray, Units, units
from assay.stats.interval import no_interval
from assay.types import Interval, MetricValue

DRAWS = 9_999
FEWEST_DRAWS = 999
MOST_CLASSES = 100
# One chunk of weights, and all weights together, stay below these many numbers.
CHUNK_NUMBERS = 2_000_000
ALL_NUMBERS = 60_000_000
# Weights of the pseudo-items come by breaking a stick; what is left after so many breaks is below 1e-6.
STICKS = 28
# Beyond this many sums a unit, a draw costs more for its sums than for its weights.
WIDE = 100
METHOD = "bayesian_bootstrap"

# Sums of the pseudo-items, one row a draw.
Pseudo = Callable[[int, np.random.Generator], FloatArray]


def table_value(pairs: Pairs, statistic: Statistic, *, rng: np.random.Generator, level: float = 0.95) -> MetricValue:
    """A statistic of the confusion table of class codes, with its Bayesian bootstrap interval.

    >>> from assay.stats.classification import kappa
    >>> codes = np.array([0, 1] * 10)
    >>> value = table_value(Pairs(codes, codes, 2), kappa, rng=np.random.default_rng(1))
    >>> value.value, value.interval.low < 0.95
    (1.0, True)
    """
    n = pairs.n
    if n == 0:
        return MetricValue(value=None, n=0, reason="no sample has a value")
    estimate = float(statistic(marginals(pairs.confusion())))
    if np.isnan(estimate):
        return MetricValue(value=None, n=n, reason="truth or prediction has one class only")
    interval = _interval(pairs, statistic, estimate, rng, level)
    return MetricValue(value=estimate, n=n, interval=interval)


def _interval(pairs: Pairs, statistic: Statistic, estimate: float, rng: np.random.Generator, level: float) -> Interval:
    if not 2 <= pairs.classes <= MOST_CLASSES:
        reason = "only one class" if pairs.classes < 2 else f"more than {MOST_CLASSES} classes"
        return no_interval(reason, level=level, method=METHOD)
    unit_sums = table_units(pairs)
    if unit_sums.n < 2:
        return no_interval("needs at least 2 independent samples", level=level, method=METHOD)
    return quantile_interval(resample(unit_sums, pairs.classes, statistic, rng), estimate, unit_sums, level)


def quantile_interval(drawn: FloatArray, estimate: float, unit_sums: Units, level: float) -> Interval:
    """Return the quantiles of the draws, widened to include the estimate."""
    low, high = (float(bound) for bound in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return Interval(
        # The pseudo-items pull a perfect table inwards; the interval still holds what was seen.
        low=min(low, estimate),
        high=max(high, estimate),
        method=METHOD,
        level=level,
        clusters=unit_sums.clusters,
        caveat=unit_sums.caveat,
        standard_error=float(drawn.std()),
    )


def table_units(pairs: Pairs) -> Units:
    """Build independent units with hits, ground truths and predictions per class, in units of the mean cluster."""
    truth, predicted, classes, rows = pairs.truth, pairs.predicted, pairs.classes, pairs.n
    if pairs.clusters is None:
        matrix = pairs.confusion().ravel()
        cells = np.flatnonzero(matrix)
        unit_sums = units(*_features(cells, classes).T, counts=matrix[cells])
        return Units(sums=unit_sums.sums, counts=unit_sums.counts, rows=rows)
    groups, codes = np.unique(pairs.clusters, return_inverse=True)
    sums = np.zeros((len(groups), 3 * classes))
    hit = truth == predicted
    np.add.at(sums, (codes[hit], truth[hit]), 1.0)
    np.add.at(sums, (codes, classes + truth), 1.0)
    np.add.at(sums, (codes, 2 * classes + predicted), 1.0)
    unit_sums = units(*sums.T)
    return Units(sums=unit_sums.sums, counts=unit_sums.counts, rows=rows).per(rows / len(groups))


def _features(cells: IntArray, classes: int) -> FloatArray:
    row, column = np.divmod(cells, classes)
    features = np.zeros((len(cells), 3 * classes))
    at = np.arange(len(cells))
    features[at[row == column], row[row == column]] = 1.0
    features[at, classes + row] = 1.0
    features[at, 2 * classes + column] = 1.0
    return features


def resample(unit_sums: Units, classes: int, statistic: Statistic, rng: np.random.Generator) -> FloatArray:
    """A statistic of the confusion table under random weights of the units."""

    def value(sums: FloatArray) -> FloatArray:
        hits, truth, predicted = np.split(sums, 3, axis=1)
        return statistic(Marginals(hits=hits, truth=truth, predicted=predicted))

    return resample_sums(unit_sums, value, lambda draws, random: pseudo_table(draws, classes, random), rng)


def resample_sums(
    unit_sums: Units, value: Callable[[FloatArray], FloatArray], pseudo: Pseudo, rng: np.random.Generator
) -> FloatArray:
    """Compute a statistic of the units' sums under random weights; very many distinct units get fewer draws."""
    distinct, width = unit_sums.sums.shape
    draws = int(np.clip(ALL_NUMBERS // (distinct * max(1, width // WIDE)), FEWEST_DRAWS, DRAWS))
    chunk = max(1, CHUNK_NUMBERS // max(distinct, width, STICKS))
    single, counts = bool(np.all(unit_sums.counts == 1)), unit_sums.counts.astype(np.float64)
    # One table for all chunks: a new one costs as much in fresh pages of memory as its numbers cost to draw.
    table = np.empty((min(chunk, draws), distinct))
    parts = []
    for start in range(0, draws, chunk):
        weights = table[: min(chunk, draws - start)]
        # Gamma(1) is the exponential distribution, which is drawn twice as fast.
        if single:
            rng.standard_exponential(out=weights)
        else:
            rng.standard_gamma(counts, out=weights)
        parts.append(value(weights @ unit_sums.sums + pseudo(len(weights), rng)))
    return np.concatenate(parts)


def pseudo_pairs(
    draws: int, classes: int, amount: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Pseudo-items spread over all pairs of classes, Gamma(amount / K^2) each: first and second class, and weight.

    Breaking a stick and throwing the pieces at random pairs has the same distribution, at a cost that does
    not grow with the number of pairs.
    """
    # A uniform number to the power of 1 / amount is what a Beta(1, amount) break leaves of the stick.
    left = np.cumprod(rng.random((draws, STICKS - 1)) ** (1 / amount), axis=1)
    ends = np.column_stack([np.ones(draws), left, np.zeros(draws)])
    pieces = -np.diff(ends, axis=1) * rng.standard_gamma(amount, size=(draws, 1))
    row, column = np.divmod(rng.integers(0, classes * classes, size=pieces.shape), classes)
    return row, column, pieces


def pseudo_amount(classes: int) -> float:
    """Return the total number of pseudo-items: 1.5, or 1 for more than two classes."""
    return 1.5 if classes == 2 else 1.0


def pseudo_table(draws: int, classes: int, rng: np.random.Generator) -> FloatArray:
    """Draw hits, ground truths and predictions of the pseudo-items, per class."""
    row, column, pieces = pseudo_pairs(draws, classes, pseudo_amount(classes), rng)
    hit = np.where(row == column, pieces, 0.0)
    summed = [sum_by(code, weight, classes) for code, weight in ((row, hit), (row, pieces), (column, pieces))]
    return np.concatenate(summed, axis=1)


def sum_by(codes: IntArray, weights: FloatArray, classes: int) -> FloatArray:
    """The weights of each row summed by class code.

    >>> sum_by(np.array([[0, 1, 1]]), np.array([[1.0, 2.0, 3.0]]), 2).tolist()
    [[1.0, 5.0]]
    """
    draws = len(codes)
    places = (codes + classes * np.arange(draws)[:, None]).ravel()
    summed = np.bincount(places, weights.ravel(), minlength=draws * classes)
    return np.asarray(summed, dtype=np.float64).reshape(draws, classes)
