"""The mean of group means, in which every group counts the same however many rows it has.

Satterthwaite, F. E. (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.clusters import FEW_CLUSTERS, ONE_CLUSTER, Clusters, FloatArray, IntArray, cluster_sums, units
from assay.stats.guarded import CAVEAT, guarded_bounds
from assay.stats.interval import no_interval, wilson, z_value
from assay.stats.paired import Paired, paired
from assay.types import Interval, MetricValue

METHOD = "wilson_macro"
METHOD_WITHOUT_RANGE = "t_macro"
GUARDED = "guarded_macro"


def macro_mean(
    values: npt.ArrayLike,
    groups: IntArray,
    clusters: Clusters = None,
    *,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> MetricValue:
    """The mean of the groups' means; `groups` has the group of each row.

    The interval speaks of more rows from these groups, not of other groups. Rows of one cluster count together, also
    where they lie in several groups. Values in declared bounds, or all 0 or 1, have the score interval on the effective
    size, widened where at least half of them are equal and not all are 0 or 1; others have Student's.

    >>> value = macro_mean([1.0, 1.0, 1.0, 0.0, 1.0, 0.0], np.array([0, 0, 0, 0, 1, 1]))
    >>> value.value, value.interval.method
    (0.625, 'wilson_macro')
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return MetricValue(value=None, n=0, reason="no sample has a value")
    codes = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    means = np.bincount(codes, weights=array) / sizes
    mean = float(means.mean())
    ids = np.arange(len(array)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    # Each row weighs so much that every group has the same weight in all.
    residual = (array - means[codes]) / (len(sizes) * sizes[codes])
    low, high = _range(array, bounds)
    if len(array) > 1 and not ids.any():
        interval = no_interval(ONE_CLUSTER, level=level, method=METHOD, clusters=1)
    elif low < high:
        interval = _score(residual / (high - low), codes, ids, (mean - low) / (high - low), level)
        ends = [low + (high - low) * bound for bound in (interval.low or 0.0, interval.high or 0.0)]
        interval = Interval(
            low=min(ends[0], mean),
            high=max(ends[1], mean),
            method=METHOD,
            level=level,
            n_effective=interval.n_effective,
            clusters=_clusters(ids),
            caveat=_caveat(ids),
            standard_error=_standard_error(residual, codes, ids),
        )
        interval = _guarded(interval, (array - low) / (high - low), codes, ids, (low, high))
    else:
        interval = _student(residual, codes, ids, mean, level)
    return MetricValue(value=mean, n=len(array), interval=interval)


def paired_macro(
    sides: tuple[npt.ArrayLike, npt.ArrayLike],
    groups: IntArray,
    clusters: Clusters = None,
    *,
    rng: np.random.Generator,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Paired:
    """Compare two means of group means over the same items; `sides` are their values, `groups` the group of each item.

    The difference is the mean of the groups' mean differences. Its interval is Student's; where at least half of the
    items tie, or with clusters, it is that of `macro_mean` on the range of a difference. The p-value flips the signs of
    the differences, each weighted so that every group counts the same.

    >>> before, after = [0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 1]
    >>> compared = paired_macro((before, after), np.array([0, 0, 0, 0, 1, 1]), rng=np.random.default_rng(1))
    >>> compared.difference.value, compared.wins, compared.ties
    (0.25, 2, 4)
    """
    first, second = (np.asarray(side, dtype=np.float64) for side in sides)
    gap = second - first
    if len(gap) < 2:
        return paired(first, second, clusters, rng=rng, bounds=bounds, level=level)
    codes = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    weighted = gap * len(gap) / (len(sizes) * sizes[codes])
    tested = paired(np.zeros_like(gap), weighted, clusters, rng=rng, level=level)
    low, high = _range(np.concatenate([first, second]), bounds)
    span = high - low
    # Where few items tie, the differences themselves show their spread; a group of one item never does.
    untied = 2 * int((gap == 0).sum()) < len(gap) and int(sizes.min()) > 1 and clusters is None
    possible = None if untied or not span else (-span, span)
    values = [
        macro_mean(gap, groups, clusters, bounds=possible, level=interval_level)
        for interval_level in (level, round(2 * level - 1, 12))
    ]
    return replace(tested, difference=values[0], narrow=values[1].interval, span=span or None)


def _range(array: FloatArray, bounds: tuple[float, float] | None) -> tuple[float, float]:
    if bounds is not None and bounds[0] <= array.min() and array.max() <= bounds[1]:
        return bounds
    return (0.0, 1.0) if bool(np.isin(array, (0.0, 1.0)).all()) else (0.0, 0.0)


def _clusters(ids: IntArray) -> int | None:
    n = int(ids.max()) + 1
    return n if n < len(ids) else None


def _caveat(ids: IntArray) -> str | None:
    n = _clusters(ids)
    return "few clusters" if n is not None and n < FEW_CLUSTERS else None


def _parts(residual: FloatArray, codes: IntArray, ids: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return for each group its number of clusters and its squares; and each cluster's sums over all groups."""
    pairs = codes * (int(ids.max()) + 1) + ids
    owners = np.unique(pairs) // (int(ids.max()) + 1)
    squares = np.zeros(int(owners.max()) + 1)
    np.add.at(squares, owners, cluster_sums(residual[:, None], pairs)[:, 0] ** 2)
    return np.bincount(owners).astype(np.int64), squares, cluster_sums(residual[:, None], ids)[:, 0]


def _standard_error(residual: FloatArray, codes: IntArray, ids: IntArray) -> float:
    """The root of sum s_g^2 / (K^2 n_g) over groups or their clusters; a group of one has no spread to correct."""
    sizes, _, _ = _parts(residual, codes, ids)
    _, _, sums = _parts(residual * np.sqrt(sizes / np.maximum(sizes - 1, 1))[codes], codes, ids)
    return math.sqrt(float((sums**2).sum()))


def _score(residual: FloatArray, codes: IntArray, ids: IntArray, mean: float, level: float) -> Interval:
    """The score interval of values between 0 and 1.

    A small group whose values are equal would count as known. So each group gets one pseudo-cluster more, which has the
    largest variance that values with this mean can have; its degree of freedom replaces the one that the mean costs.
    """
    sizes, squares, sums = _parts(residual, codes, ids)
    share = min(max(mean, 0.0), 1.0)
    per_group = 1 / (len(sizes) * sizes) ** 2
    largest = share * (1 - share)
    if largest <= 0:
        size, c = 1 / float((per_group * sizes).sum()), z_value(level)
    else:
        of_groups = squares + largest * per_group
        variance = float((sums**2).sum()) + largest * float(per_group.sum())
        freedom = float(of_groups.sum()) ** 2 / float((of_groups**2 / sizes).sum())
        size, c = largest / variance, t_value(level, max(freedom, 1.0))
    low, high = wilson(share * size, size, c=c)
    return Interval(low=float(low), high=float(high), method=METHOD, level=level, n_effective=size)


def _guarded(
    interval: Interval, scaled: FloatArray, codes: IntArray, ids: IntArray, bounds: tuple[float, float]
) -> Interval:
    """Widen the interval to allow for a rare extreme value, where at least half of the values are equal."""
    _, copies = np.unique(scaled, return_counts=True)
    if 2 * int(copies.max()) < len(scaled) or bool(np.isin(scaled, (0.0, 1.0)).all()):
        return interval
    sizes = np.bincount(codes)
    weight = len(codes) / (len(sizes) * sizes[codes])
    unit_sums = units(weight * np.clip(scaled, 0.0, 1.0), weight, clusters=ids)
    load = unit_sums.column(1)
    # The pseudo-observation weighs as much as the unit that a row is in does on average.
    size = float(unit_sums.counts @ load**2) / unit_sums.total(1)
    c = z_value(interval.level) if interval.clusters is None else t_value(interval.level, unit_sums.n - 1)
    low, high = (bounds[0] + (bounds[1] - bounds[0]) * end for end in guarded_bounds(unit_sums, size=size, c=c))
    assert interval.low is not None
    assert interval.high is not None
    return replace(
        interval,
        low=min(low, interval.low),
        high=max(high, interval.high),
        method=GUARDED,
        caveat="; ".join(part for part in (interval.caveat, CAVEAT) if part),
    )


def _student(residual: FloatArray, codes: IntArray, ids: IntArray, mean: float, level: float) -> Interval:
    """Student's interval of values without a range: every group must have two clusters, or its spread is unknown."""
    sizes, _, _ = _parts(residual, codes, ids)
    clusters = _clusters(ids)
    if int(sizes.min()) < 2:
        rows = "cluster" if clusters is not None else "value"
        reason = f"{int((sizes < 2).sum()):,} of {len(sizes):,} groups have one {rows} only, and the field has no range"
        return no_interval(reason, level=level, method=METHOD_WITHOUT_RANGE, clusters=clusters)
    corrected = residual * np.sqrt(sizes / (sizes - 1))[codes]
    _, squares, sums = _parts(corrected, codes, ids)
    variance = float((sums**2).sum())
    if variance <= 1e-24 * max(mean**2, 1e-300):
        reason = "all values of each group are equal and the field has no declared range"
        return no_interval(reason, level=level, method=METHOD_WITHOUT_RANGE, clusters=clusters)
    freedom = float(squares.sum()) ** 2 / float((squares**2 / (sizes - 1)).sum())
    half = t_value(level, max(freedom, 1.0)) * math.sqrt(variance)
    return Interval(
        low=mean - half,
        high=mean + half,
        method=METHOD_WITHOUT_RANGE,
        level=level,
        clusters=clusters,
        caveat=_caveat(ids),
        standard_error=math.sqrt(variance),
    )
