"""The mean of group means, in which every group counts the same however many rows it has.

Satterthwaite, F. E. (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.clusters import FEW_CLUSTERS, Clusters, FloatArray, IntArray, cluster_sums
from assay.stats.interval import no_interval, wilson, z_value
from assay.types import Interval, MetricValue

METHOD = "wilson_macro"
METHOD_WITHOUT_RANGE = "t_macro"


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
    size, others Student's.

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
    if low < high:
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
        )
    else:
        interval = _student(residual, codes, ids, mean, level)
    return MetricValue(value=mean, n=len(array), interval=interval)


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
    """Of each group its number of clusters and its squares; and the sums of each cluster over all groups."""
    pairs = codes * (int(ids.max()) + 1) + ids
    owners = np.unique(pairs) // (int(ids.max()) + 1)
    squares = np.zeros(int(owners.max()) + 1)
    np.add.at(squares, owners, cluster_sums(residual[:, None], pairs)[:, 0] ** 2)
    return np.bincount(owners).astype(np.int64), squares, cluster_sums(residual[:, None], ids)[:, 0]


def _score(residual: FloatArray, codes: IntArray, ids: IntArray, mean: float, level: float) -> Interval:
    """The score interval of values between 0 and 1.

    A small group whose values are equal would count as known. So each group gets one pseudo-cluster more, which has the
    largest variance that values with this mean can have; its degree of freedom replaces the one that the mean costs.
    """
    units, squares, sums = _parts(residual, codes, ids)
    share = min(max(mean, 0.0), 1.0)
    per_group = 1 / (len(units) * units) ** 2
    largest = share * (1 - share)
    if largest <= 0:
        size, c = 1 / float((per_group * units).sum()), z_value(level)
    else:
        of_groups = squares + largest * per_group
        variance = float((sums**2).sum()) + largest * float(per_group.sum())
        freedom = float(of_groups.sum()) ** 2 / float((of_groups**2 / units).sum())
        size, c = largest / variance, t_value(level, max(round(freedom), 1))
    low, high = wilson(share * size, size, c=c)
    return Interval(low=float(low), high=float(high), method=METHOD, level=level, n_effective=size)


def _student(residual: FloatArray, codes: IntArray, ids: IntArray, mean: float, level: float) -> Interval:
    """Student's interval of values without a range: every group must have two clusters, or its spread is unknown."""
    units, _, _ = _parts(residual, codes, ids)
    clusters = _clusters(ids)
    if int(units.min()) < 2:
        rows = "cluster" if clusters is not None else "value"
        why = f"{int((units < 2).sum()):,} of {len(units):,} groups have one {rows} only, and the field has no range"
        return no_interval(why, level=level, method=METHOD_WITHOUT_RANGE, clusters=clusters)
    corrected = residual * np.sqrt(units / (units - 1))[codes]
    _, squares, sums = _parts(corrected, codes, ids)
    variance = float((sums**2).sum())
    if variance <= 1e-24 * max(mean**2, 1e-300):
        why = "all values of each group are equal and the field has no declared range"
        return no_interval(why, level=level, method=METHOD_WITHOUT_RANGE, clusters=clusters)
    freedom = float(squares.sum()) ** 2 / float((squares**2 / (units - 1)).sum())
    half = t_value(level, max(round(freedom), 1)) * math.sqrt(variance)
    return Interval(
        low=mean - half,
        high=mean + half,
        method=METHOD_WITHOUT_RANGE,
        level=level,
        clusters=clusters,
        caveat=_caveat(ids),
    )
