"""Correlations with a jackknife interval on Fisher's z.

Fisher, R. A. (1915); Efron, B. and Tibshirani, R. (1993), An Introduction to the Bootstrap, chapter 11.
Kendall, M. G. (1945), The treatment of ties in ranking problems: tau-b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.interval import no_interval
from assay.stats.units import FloatArray
from assay.types import Interval, MetricValue

LEAST = 4
CHUNK_NUMBERS = 2_000_000
METHOD = "jackknife_fisher_z"

Name = Literal["pearson", "spearman", "kendall"]


def correlation(x: npt.ArrayLike, y: npt.ArrayLike, name: Name = "pearson", *, level: float = 0.95) -> MetricValue:
    """Pearson's r, Spearman's rho or Kendall's tau-b of pairs, with a jackknife interval on Fisher's z.

    >>> value = correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], "kendall")
    >>> round(value.value, 3)
    0.6
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(first)
    if n < LEAST:
        return MetricValue(value=None, n=n, reason=f"a correlation needs at least {LEAST} pairs")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return MetricValue(value=None, n=n, reason="one side has equal values only")
    order = np.lexsort((second, first))
    first, second = (first - first.min()) / np.ptp(first), (second - second.min()) / np.ptp(second)
    estimate, without_one = _ESTIMATES[name](first[order], second[order])
    return MetricValue(value=estimate, n=n, interval=_interval(estimate, without_one, level))


def _interval(estimate: float, without_one: FloatArray, level: float) -> Interval:
    edge = 1 - 1e-12
    if abs(estimate) >= edge or not np.all(np.abs(without_one) < edge):
        return no_interval("perfect, or perfect or undefined without one of the pairs", level=level, method=METHOD)
    n = len(without_one)
    z = np.arctanh(without_one)
    error = float(np.sqrt((n - 1) / n * np.sum((z - z.mean()) ** 2)))
    if error <= 1e-12:
        return no_interval("leaving out any pair changes nothing", level=level, method=METHOD)
    half = t_value(level, n - 1) * error
    centre = np.arctanh(estimate)
    return Interval(
        low=float(np.tanh(centre - half)),
        high=float(np.tanh(centre + half)),
        method=METHOD,
        level=level,
    )


def _pearson(x: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    n = len(x)
    dx, dy = x - x.mean(), y - y.mean()
    # Leaving out one value takes its square, and the square of the shift of the mean, from the sums.
    without = n / (n - 1)
    xx, yy, xy = dx @ dx, dy @ dy, dx @ dy
    left = (xy - without * dx * dy, xx - without * dx**2, yy - without * dy**2)
    return float(xy / np.sqrt(xx * yy)), _quotient(*left)


def _spearman(x: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    n = len(x)
    rank_x, rank_y = _ranks(x), _ranks(y)
    estimate, _ = _pearson(rank_x, rank_y)
    parts = []
    for rows in _chunks(n):
        # Without value i the ranks above it fall by one, those tied with it by a half.
        left_x = rank_x - 0.5 - np.sign(x - x[rows, None]) / 2
        left_y = rank_y - 0.5 - np.sign(y - y[rows, None]) / 2
        mask = np.ones_like(left_x)
        mask[np.arange(len(rows)), rows] = 0.0
        middle = n / 2
        dx, dy = (left_x - middle) * mask, (left_y - middle) * mask
        parts.append(_quotient((dx * dy).sum(axis=1), (dx**2).sum(axis=1), (dy**2).sum(axis=1)))
    return estimate, np.concatenate(parts)


def _kendall(x: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
    agree, apart_x, apart_y = (np.concatenate(parts) for parts in zip(*_signs(x, y), strict=True))
    # Each pair was counted from both its ends; leaving out one value takes its pairs away.
    sums = [float(part.sum()) / 2 for part in (agree, apart_x, apart_y)]
    without = (total - part for total, part in zip(sums, (agree, apart_x, apart_y), strict=True))
    return sums[0] / float(np.sqrt(sums[1] * sums[2])), _quotient(*without)


def _signs(x: FloatArray, y: FloatArray) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    parts = []
    for rows in _chunks(len(x)):
        side_x, side_y = np.sign(x - x[rows, None]), np.sign(y - y[rows, None])
        parts.append(((side_x * side_y).sum(axis=1), np.abs(side_x).sum(axis=1), np.abs(side_y).sum(axis=1)))
    return parts


def _quotient(xy: FloatArray, xx: FloatArray, yy: FloatArray) -> FloatArray:
    """xy / sqrt(xx yy); infinite where one side is constant, since then there is no correlation."""
    defined = (xx > 1e-12 * xx.max()) & (yy > 1e-12 * yy.max())
    return np.divide(xy, np.sqrt(np.abs(xx * yy)), out=np.full_like(xy, np.inf), where=defined)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1, ties at their mean."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def _chunks(n: int) -> list[npt.NDArray[np.int64]]:
    size = max(1, CHUNK_NUMBERS // n)
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]


_ESTIMATES: dict[Name, Callable[[FloatArray, FloatArray], tuple[float, FloatArray]]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
