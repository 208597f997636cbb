"""Intervals of shares, ratios of counts, and means: the score interval on the effective size, or bootstrap-t.

Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
Korn, E. L. and Graubard, B. I. (1998), Confidence intervals for proportions with small expected number of
positive counts estimated from survey data, Survey Methodology 24: the effective sample size.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import bootstrap_t, t_value
from assay.stats.clusters import ONE_CLUSTER, Clusters, Counts, FloatArray, Units, single_units, units
from assay.stats.guarded import CAVEAT, METHOD, guarded_bounds, mostly_one_value, pseudo_size
from assay.types import Interval, MetricValue

FEW_IN_DENOMINATOR = 10


def z_value(level: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(z_value(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def no_interval(reason: str, *, level: float = 0.95, method: str = "none", clusters: int | None = None) -> Interval:
    """An interval that cannot be computed, with the reason in its caveat."""
    return Interval(low=None, high=None, method=method, level=level, clusters=clusters, caveat=reason)


def wilson(
    successes: npt.ArrayLike, n: npt.ArrayLike, level: float = 0.95, *, c: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """Wilson's score interval of a share; `c` replaces the normal quantile.

    >>> low, high = wilson(33, 40)
    >>> round(float(low), 3), round(float(high), 3)
    (0.681, 0.913)
    """
    size = np.asarray(n, dtype=np.float64)
    share = np.asarray(successes, dtype=np.float64) / size
    q = z_value(level) if c is None else c
    centre = share + q**2 / (2 * size)
    half = q * np.sqrt(np.clip(share * (1 - share), 0, None) / size + q**2 / (4 * size**2))
    low = np.where(share <= 0, 0.0, (centre - half) / (1 + q**2 / size))
    high = np.where(share >= 1, 1.0, (centre + half) / (1 + q**2 / size))
    # Rounding must not push a bound past the estimate or out of [0, 1].
    return np.minimum(np.clip(low, 0, 1), share), np.maximum(np.clip(high, 0, 1), share)


def ratio(
    part: npt.ArrayLike,
    whole: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    counts: Counts = None,
    level: float = 0.95,
    undefined: str = "there is nothing to divide by",
) -> MetricValue:
    """sum(part) / sum(whole) with the score interval on the effective size; 0 <= part <= whole in each row.

    A share is the ratio of hits to ones; precision is the ratio of TP to TP + FP. Rows with nothing to divide by say
    nothing, so `n` counts the others.

    >>> value = ratio([1, 1, 0], [1, 1, 1])
    >>> round(value.value, 3), value.interval.method
    (0.667, 'wilson')
    """
    unit_sums = units(part, whole, clusters=clusters, counts=counts)
    total = unit_sums.total(1)
    if total <= 0:
        return MetricValue(value=None, n=unit_sums.rows, reason=undefined)
    interval = score_interval(unit_sums, level)
    counted = np.asarray(whole, dtype=np.float64) > 0
    n = int(counted.sum() if counts is None else counts[counted].sum())
    return MetricValue(value=unit_sums.total(0) / total, n=n, interval=interval)


def rate(
    part: npt.ArrayLike,
    whole: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    counts: Counts = None,
    level: float = 0.95,
    undefined: str = "there is nothing to divide by",
) -> MetricValue:
    """Return the interval of precision or recall, widened if the denominator is below 10.

    How many those are is luck, too, and Wilson's interval then covers too little near the ends. It is joined with the
    quantiles of Beta(k, n - k + 1/2) below and of Beta(k + 1/2, n - k) above. Clusters, and documents with several
    counts, count as one each, and n is the effective size.

    >>> value = rate([1, 1, 1, 0], [1, 1, 1, 1])
    >>> value.interval.method, round(value.interval.low, 3), round(value.interval.high, 3)
    ('wilson_beta', 0.233, 0.993)
    """
    from scipy.special import betaincinv

    value = ratio(part, whole, clusters, counts=counts, level=level, undefined=undefined)
    score = value.interval
    if value.value is None or score is None or score.low is None or score.high is None:
        return value
    unit_sums = units(whole, clusters=clusters, counts=counts)
    if unit_sums.keep(unit_sums.column(0) > 0).n >= FEW_IN_DENOMINATOR or score.n_effective is None:
        return value
    n = score.n_effective
    k, tail = value.value * n, (1 - level) / 2
    low = float(betaincinv(k, n - k + 0.5, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 0.5, n - k, 1 - tail)) if k < n else 1.0
    hull = replace(score, low=min(score.low, low), high=max(score.high, high), method="wilson_beta")
    return replace(value, interval=hull)


def score_interval(unit_sums: Units, level: float) -> Interval:
    """The score interval of sum(a) / sum(w) over units with the sums (a, w), on the effective size."""
    used = unit_sums.keep(unit_sums.column(1) > 0)
    # One cluster of several rows, or of several counts, says nothing of how clusters differ.
    if used.n == 1 and (unit_sums.clusters == 1 or used.total(1) > 1):
        return no_interval(ONE_CLUSTER, level=level, method="wilson_effective", clusters=unit_sums.clusters)
    size, c, method, error = _effective(used, level)
    share = used.total(0) / used.total(1)
    low, high = wilson(share * size, size, c=c)
    # Rounding must not leave the estimate outside of its own interval.
    return Interval(
        low=min(float(low), share),
        high=max(float(high), share),
        method=method,
        level=level,
        n_effective=size,
        clusters=unit_sums.clusters,
        caveat=unit_sums.caveat,
        standard_error=error,
    )


def _effective(used: Units, level: float) -> tuple[float, float, str, float]:
    """Return the effective size, the quantile for it, the name of the method, and the standard error."""
    part, whole, n = used.column(0), used.column(1), used.n
    equal = bool(np.all(whole == whole[0]))
    share = used.total(0) / used.total(1)
    if equal and bool(np.all((part == 0) | (part == whole))):
        return float(n), z_value(level), "wilson", math.sqrt(max(share * (1 - share), 0.0) / n)
    residual = part - share * whole
    # Without any spread the effective size would be infinite; no more is known than that there are n units.
    if np.abs(residual).max() <= 1e-12 * whole.max():
        return float(n), z_value(level), "wilson_effective", 0.0
    variance = n / (n - 1) * float(used.counts @ residual**2) / used.total(1) ** 2
    # t and not z, since the variance is itself an estimate from n units.
    return share * (1 - share) / variance, t_value(level, n - 1), "wilson_effective", math.sqrt(variance)


def f1(
    tp: npt.ArrayLike,
    fp: npt.ArrayLike,
    fn: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    counts: Counts = None,
    level: float = 0.95,
) -> MetricValue:
    """F1 of counts summed over rows, through J = TP / (TP + FP + FN), of which it is an increasing function.

    >>> value = f1([1] * 15, [0] * 15, [0] * 15)
    >>> value.value, round(value.interval.low, 4)
    (1.0, 0.8865)
    """
    hits = np.asarray(tp, dtype=np.float64)
    whole = hits + np.asarray(fp, dtype=np.float64) + np.asarray(fn, dtype=np.float64)
    overlap = ratio(hits, whole, clusters, counts=counts, level=level, undefined="TP + FP + FN = 0")
    if overlap.value is None or overlap.interval is None:
        return overlap
    low, high = overlap.interval.low, overlap.interval.high
    error = overlap.interval.standard_error
    # The slope of 2J / (1 + J) carries the standard error of J over to F1.
    error = None if error is None else 2 * error / (1 + overlap.value) ** 2
    interval = replace(overlap.interval, low=_f1_of(low), high=_f1_of(high), standard_error=error)
    return replace(overlap, value=_f1_of(overlap.value), interval=interval)


def _f1_of(overlap: float | None) -> float | None:
    return None if overlap is None else 2 * overlap / (1 + overlap)


def mean(
    values: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    rng: np.random.Generator,
    counts: Counts = None,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> MetricValue:
    """The mean, with the score interval if the values lie in declared bounds or are all 0 or 1, else bootstrap-t.

    Where at least half of the values in declared bounds are equal and not all lie at the ends, the interval is widened
    to guard against rare extreme values.

    >>> value = mean([0.5, 0.9, 0.7, 1.0], rng=np.random.default_rng(1), bounds=(0, 1))
    >>> round(value.value, 3), value.interval.method
    (0.775, 'wilson_effective')
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return MetricValue(value=None, n=0, reason="no sample has a value")
    if clusters is None and counts is None:
        distinct, alike = single_units(array)
        unit_sums = units(distinct, np.ones_like(distinct), counts=alike)
    else:
        unit_sums = units(array, np.ones_like(array), clusters=clusters, counts=counts)
    estimate = unit_sums.total(0) / unit_sums.total(1)
    if bounds is None or not (bounds[0] < bounds[1] and bounds[0] <= array.min() and array.max() <= bounds[1]):
        binary = bool(np.all((array == 0) | (array == 1)))
        bounds = (0.0, 1.0) if binary else None
    if bounds is None:
        interval = bootstrap_t(unit_sums, rng=rng, level=level)
    else:
        interval = _bounded(array, clusters, unit_sums, bounds, level)
    return MetricValue(value=estimate, n=unit_sums.rows, interval=_around(interval, estimate))


def _bounded(
    array: FloatArray, clusters: Clusters, unit_sums: Units, bounds: tuple[float, float], level: float
) -> Interval:
    """The interval of a mean of values in declared bounds; it is guarded where at least half of them are equal."""
    low, width = bounds[0], bounds[1] - bounds[0]
    part = np.clip((unit_sums.column(0) - low * unit_sums.column(1)) / width, 0, unit_sums.column(1))
    scaled = Units(sums=np.column_stack([part, unit_sums.column(1)]), counts=unit_sums.counts, rows=unit_sums.rows)
    interval = score_interval(scaled, level)
    at_ends = bool(np.all((array == low) | (array == bounds[1])))
    if not at_ends and mostly_one_value(array, unit_sums):
        interval = _guarded(interval, scaled, *pseudo_size((array - low) / width, clusters, scaled))
    ends = [None if bound is None else low + width * bound for bound in (interval.low, interval.high)]
    error = None if interval.standard_error is None else width * interval.standard_error
    return replace(interval, low=ends[0], high=ends[1], standard_error=error)


def _guarded(score: Interval, scaled: Units, size: float, independent: bool) -> Interval:
    """The hull of the score interval and the bounds that allow for a rare extreme value."""
    if score.low is None or score.high is None:
        return score
    c = z_value(score.level) if independent else t_value(score.level, scaled.n - 1)
    low, high = guarded_bounds(scaled, size=size, c=c)
    caveat = "; ".join(part for part in (score.caveat, CAVEAT) if part)
    return replace(score, low=min(low, score.low), high=max(high, score.high), method=METHOD, caveat=caveat)


def _around(interval: Interval, estimate: float) -> Interval:
    # Scaling and centring round differently from the sum itself.
    low = None if interval.low is None else min(interval.low, estimate)
    high = None if interval.high is None else max(interval.high, estimate)
    return replace(interval, low=low, high=high)
