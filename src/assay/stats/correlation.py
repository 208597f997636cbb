"""Correlations with a jackknife interval on Fisher's z.

Fisher, R. A. (1915); Efron, B. and Tibshirani, R. (1993), An Introduction to the Bootstrap, chapter 11.
Kendall, M. G. (1945), The treatment of ties in ranking problems: tau-b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import Clusters, FloatArray, IntArray
from assay.stats.interval import no_interval
from assay.stats.jackknife import METHOD, LeftOut, fisher_interval
from assay.types import MetricValue

LEAST = 4
CHUNK_NUMBERS = 2_000_000

Name = Literal["pearson", "spearman", "kendall"]


def correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, name: Name = "pearson", clusters: Clusters = None, *, level: float = 0.95
) -> MetricValue:
    """Pearson's r, Spearman's rho or Kendall's tau-b of pairs, with a jackknife interval on Fisher's z.

    With clusters, whole clusters are left out in turn.

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
    keys = (second, first) if clusters is None else (second, first, clusters)
    order = np.lexsort(keys)
    starts = np.arange(n)
    if clusters is not None:
        ordered = clusters[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    first, second = (first - first.min()) / np.ptp(first), (second - second.min()) / np.ptp(second)
    estimate, without = _ESTIMATES[name](first[order], second[order], starts)
    if len(starts) < LEAST:
        reason = f"needs at least {LEAST} clusters"
        return MetricValue(value=estimate, n=n, interval=no_interval(reason, level=level, method=METHOD))
    left = LeftOut(estimate=estimate, without=without, clustered=len(starts) < n)
    return MetricValue(value=estimate, n=n, interval=fisher_interval(left, level=level))


def _pearson(x: FloatArray, y: FloatArray, starts: IntArray) -> tuple[float, FloatArray]:
    n, size = len(x), np.diff(np.append(starts, len(x)))
    dx, dy = x - x.mean(), y - y.mean()
    sx, sy, xx, yy, xy = (np.add.reduceat(part, starts) for part in (dx, dy, dx**2, dy**2, dx * dy))
    # The deviations sum to 0, so those left have the sum -s of the cluster that is out.
    rest = np.maximum(n - size, 1)
    left = (xy.sum() - xy - sx * sy / rest, xx.sum() - xx - sx**2 / rest, yy.sum() - yy - sy**2 / rest)
    return float(xy.sum() / np.sqrt(xx.sum() * yy.sum())), _quotient(*left)


def _spearman(x: FloatArray, y: FloatArray, starts: IntArray) -> tuple[float, FloatArray]:
    n, size = len(x), np.diff(np.append(starts, len(x)))
    member = np.repeat(np.arange(len(starts)), size)
    sides = [(_ranks(values), np.unique(values, return_inverse=True)[1]) for values in (x, y)]
    estimate, _ = _pearson(sides[0][0], sides[1][0], np.arange(n))
    parts = []
    for groups in _chunks(len(starts), n):
        remaining = member != groups[:, None]
        middle = (n - size[groups, None] + 1) / 2
        dx, dy = ((ranks - _fall(codes, member, groups) - middle) * remaining for ranks, codes in sides)
        parts.append(_quotient((dx * dy).sum(axis=1), (dx**2).sum(axis=1), (dy**2).sum(axis=1)))
    return estimate, np.concatenate(parts)


def _fall(codes: IntArray, member: IntArray, groups: IntArray) -> FloatArray:
    """Return the decrease of each rank without a group: one for each of its lower values, half for each tie."""
    distinct = int(codes.max()) + 1
    inside = (member >= groups[0]) & (member <= groups[-1])
    places = (member[inside] - groups[0]) * distinct + codes[inside]
    counts = np.bincount(places, minlength=len(groups) * distinct).reshape(len(groups), distinct)
    return np.asarray((np.cumsum(counts, axis=1) - counts / 2)[:, codes])


def _kendall(x: FloatArray, y: FloatArray, starts: IntArray) -> tuple[float, FloatArray]:
    signs = _signs(x, y)
    # Each pair was counted from both its ends; leaving out a cluster takes all pairs with an end in it away.
    sums = signs.sum(axis=1) / 2
    taken = np.add.reduceat(signs, starts, axis=1)
    ends = np.append(starts, len(x))
    for group in np.flatnonzero(np.diff(ends) > 1):
        inside = slice(ends[group], ends[group + 1])
        taken[:, group] -= _signs(x[inside], y[inside]).sum(axis=1) / 2
    return float(sums[0] / np.sqrt(sums[1] * sums[2])), _quotient(*(sums[:, None] - taken))


def _signs(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return for each value: concordant minus discordant pairs, pairs that differ in x, and pairs that differ in y."""
    parts = []
    for rows in _chunks(len(x), len(x)):
        side_x, side_y = np.sign(x - x[rows, None]), np.sign(y - y[rows, None])
        parts.append([(side_x * side_y).sum(axis=1), np.abs(side_x).sum(axis=1), np.abs(side_y).sum(axis=1)])
    return np.concatenate(parts, axis=1)


def _quotient(xy: FloatArray, xx: FloatArray, yy: FloatArray) -> FloatArray:
    """Return xy / sqrt(xx yy); infinite if one side is constant, since no correlation exists then."""
    defined = (xx > 1e-12 * xx.max()) & (yy > 1e-12 * yy.max())
    return np.divide(xy, np.sqrt(np.abs(xx * yy)), out=np.full_like(xy, np.inf), where=defined)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1, ties at their mean."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]


def _chunks(n: int, width: int) -> list[IntArray]:
    size = max(1, CHUNK_NUMBERS // width)
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]


_ESTIMATES: dict[Name, Callable[[FloatArray, FloatArray, IntArray], tuple[float, FloatArray]]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
