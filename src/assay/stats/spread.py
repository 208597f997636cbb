"""Intervals of the standard deviation, the median and percentiles.

Bonett, D. G. (2006), Approximate confidence interval for standard deviation of nonnormal distributions,
Computational Statistics and Data Analysis 50. David, H. A. and Nagaraja, H. N. (2003), Order Statistics, 7.1.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.clusters import Clusters, Counts, Units, units
from assay.stats.interval import no_interval
from assay.types import Interval, MetricValue


def std_dev(
    values: npt.ArrayLike, clusters: Clusters = None, *, counts: Counts = None, level: float = 0.95
) -> MetricValue:
    """The sample standard deviation (n - 1) with a rough interval that allows for heavy tails.

    >>> value = std_dev([1.0, 2.0, 3.0, 4.0])
    >>> round(value.value, 3), value.interval.caveat
    (1.291, 'rough')
    """
    unit_sums = units(values, counts=counts)
    n = unit_sums.n
    if n < 2:
        return MetricValue(value=None, n=n, reason="a standard deviation needs at least 2 values")
    if len(unit_sums.counts) == 1:
        interval = no_interval("all values are equal", level=level, method="log_std_dev")
        return MetricValue(value=0.0, n=n, interval=interval)
    centred = unit_sums.column(0) - unit_sums.total(0) / n
    # Measured in its own size, so that fourth powers neither vanish nor overflow.
    scale = float(np.abs(centred).max())
    centred = centred / scale
    variance = float(unit_sums.counts @ centred**2) / n
    kurtosis = float(unit_sums.counts @ centred**4) / n / variance**2
    interval = _log_interval(scale * math.sqrt(variance), kurtosis, _groups(n, clusters), level)
    if interval.clusters == n:
        interval = replace(interval, clusters=None)
    return MetricValue(value=scale * math.sqrt(variance * n / (n - 1)), n=n, interval=interval)


def _log_interval(spread: float, kurtosis: float, groups: int, level: float) -> Interval:
    if groups < 2:
        return no_interval("all values come from one cluster", level=level, method="log_std_dev")
    # With clusters the spread is that of as many values as there are clusters, so copies change nothing.
    centre = spread * math.sqrt(groups / (groups - 1))
    excess = max(kurtosis - (groups - 3) / (groups - 1), 0)
    error = math.sqrt(excess / (4 * groups))
    half = t_value(level, groups - 1) * error
    return Interval(
        low=centre * math.exp(-half),
        high=centre * math.exp(half),
        method="log_std_dev",
        level=level,
        clusters=groups,
        caveat="rough",
        standard_error=centre * error,
    )


def _groups(n: int, clusters: Clusters) -> int:
    return n if clusters is None else len(np.unique(clusters))


def quantile(
    values: npt.ArrayLike,
    share: float,
    clusters: Clusters = None,
    *,
    counts: Counts = None,
    level: float = 0.95,
) -> MetricValue:
    """The quantile (linear between values) with the order statistics that enclose it by the binomial.

    A bound that so few values cannot give is None: the upper one of a 95th percentile needs 72 values.
    With clusters, as many values count as there are clusters.

    >>> value = quantile(range(1, 11), 0.5)
    >>> value.value, value.interval.low, value.interval.high
    (5.5, 2.0, 9.0)
    """
    unit_sums = units(values, counts=counts)
    n = unit_sums.n
    if not n:
        return MetricValue(value=None, n=0, reason="no sample has a value")
    position = share * (n - 1)
    below = math.floor(position)
    left, right = _at(unit_sums, below + 1), _at(unit_sums, min(below + 2, n))
    estimate = left + (position - below) * (right - left)
    interval = _order_statistics(unit_sums, share, _groups(n, clusters), level)
    return MetricValue(value=estimate, n=n, interval=interval)


def _order_statistics(unit_sums: Units, share: float, groups: int, level: float) -> Interval:
    lower, upper = _ranks(groups, share, level)
    # Rank r of `groups` values stands at the share r / groups of all rows; integers, so that nothing rounds.
    low = None if lower is None else _at(unit_sums, -(-lower * unit_sums.n // groups))
    high = None if upper is None else _at(unit_sums, -(-upper * unit_sums.n // groups))
    if low is not None and low == high:
        reason = f"so many values are {low:g} that both bounds are {low:g}"
        return no_interval(reason, level=level, method="order_statistics")
    return Interval(
        low=low,
        high=high,
        method="order_statistics",
        level=level,
        clusters=groups if groups < unit_sums.n else None,
        caveat="too few values for both bounds" if low is None or high is None else None,
    )


def _at(unit_sums: Units, rank: int) -> float:
    """The value of a rank, counted from 1."""
    return float(unit_sums.column(0)[np.searchsorted(np.cumsum(unit_sums.counts), rank)])


def _ranks(n: int, share: float, level: float) -> tuple[int | None, int | None]:
    """The largest rank whose value lies above the quantile with at most half the error, and its counterpart."""
    from scipy.special import bdtr, bdtrc

    # The tolerance keeps a tail that equals the error but for rounding.
    tail = (1 - level) / 2 * (1 + 1e-12)
    ranks = range(1, n + 1)
    lower = bisect.bisect_right(ranks, tail, key=lambda rank: float(bdtr(rank - 1, n, share)))
    upper = bisect.bisect_left(ranks, -tail, key=lambda rank: -float(bdtrc(rank - 1, n, share))) + 1
    return lower or None, upper if upper <= n else None
