"""Intraclass correlations of raters who all rate the same items: ICC(2,1) and ICC(2,k).

Shrout, P. E. and Fleiss, J. L. (1979), Intraclass correlations: uses in assessing rater reliability,
Psychological Bulletin 86: two-way random effects, absolute agreement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import Clusters, FloatArray, units
from assay.stats.interval import no_interval
from assay.stats.jackknife import EDGE, METHOD, LeftOut, fisher_interval
from assay.types import Interval, MetricValue

LEAST_ITEMS = 4
# Beyond these, correlations and their intervals shrink to 0 whatever the raters think of the items.
MOST_OF_LEVELS = 0.95
MOST_WIDTHS = 10.0
FAR_APART = "the raters' levels lie so far apart that nearly all that varies is who rates"
OTHER_WIDTHS = "one rater's numbers vary more than ten times as much as another's: are they on one scale?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intraclass:
    """The reliability of a single rater (`single`, ICC(2,1)) and of the mean of all k raters (`mean`, ICC(2,k))."""

    single: MetricValue
    mean: MetricValue


def intraclass(table: npt.ArrayLike, clusters: Clusters = None, *, level: float = 0.95) -> Intraclass:
    """Compute ICC(2,1) and ICC(2,k); one row per item, one column per rater, NaN where a rating is missing.

    Items that some rater left out are not used. The interval speaks of more items rated by these raters: a
    jackknife over items, or clusters of items, on Fisher's z of k raters. The mean's bounds follow from the
    single's by k r / (1 + (k - 1) r).

    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> icc = intraclass(table)
    >>> round(icc.single.value, 2), round(icc.mean.value, 2)
    (0.29, 0.62)
    """
    numbers = np.asarray(table, dtype=np.float64)
    complete = ~np.isnan(numbers).any(axis=1)
    used, raters = numbers[complete], numbers.shape[1]
    undefined_reason = _undefined(used)
    if undefined_reason is not None:
        undefined = MetricValue(value=None, n=len(used), reason=undefined_reason)
        return Intraclass(single=undefined, mean=undefined)
    single = _single(used, None if clusters is None else clusters[complete], level)
    assert single.value is not None
    assert single.interval is not None
    bounds = replace(
        single.interval, low=_of_mean(single.interval.low, raters), high=_of_mean(single.interval.high, raters)
    )
    value = _of_mean(single.value, raters)
    reason = None if value is not None else "the raters agree less than by chance"
    mean = MetricValue(value=value, n=single.n, interval=None if value is None else bounds, reason=reason)
    return Intraclass(single=single, mean=mean)


def _undefined(used: FloatArray) -> str | None:
    if used.shape[1] < 2:
        return "needs at least 2 raters"
    if len(used) < LEAST_ITEMS:
        return f"needs at least {LEAST_ITEMS} items that all raters rated"
    return "all ratings are equal" if np.ptp(used) == 0 else None


def _single(used: FloatArray, clusters: Clusters, level: float) -> MetricValue:
    raters = used.shape[1]
    scaled = (used - used.min()) / np.ptp(used) - 0.5
    rows = np.column_stack([np.ones(len(used)), scaled, scaled.sum(axis=1) ** 2, (scaled**2).sum(axis=1)])
    unit_sums = units(*rows.T, clusters=clusters)
    estimate = float(_icc(unit_sums.counts @ unit_sums.sums, raters))
    interval = _left_out(rows, clusters, raters, level)
    caveat = "; ".join(filter(None, (interval.caveat, _other_scales(scaled))))
    return MetricValue(value=estimate, n=len(used), interval=replace(interval, caveat=caveat or None))


def _other_scales(ratings: FloatArray) -> str | None:
    """Explain low absolute agreement among correlated raters: they use different scales."""
    if ratings.mean(axis=0).var() > MOST_OF_LEVELS * ratings.var():
        return FAR_APART
    widths = ratings.std(axis=0)
    # a rater who never varies has a reason of its own
    return OTHER_WIDTHS if EDGE < MOST_WIDTHS * widths.min() < widths.max() else None


def _left_out(rows: FloatArray, clusters: Clusters, raters: int, level: float) -> Interval:
    unit_sums = units(*rows.T, clusters=clusters)
    if unit_sums.n < LEAST_ITEMS:
        return no_interval(f"needs at least {LEAST_ITEMS} clusters", level=level, method=METHOD)
    # In units of the mean cluster: copies of an item add no degrees of freedom.
    even = unit_sums.per(unit_sums.rows / unit_sums.n)
    total = even.counts @ even.sums
    left = LeftOut(
        estimate=float(_icc(total, raters)),
        without=_icc(total - even.sums, raters),
        counts=even.counts,
        clustered=unit_sums.clusters is not None,
    )
    return fisher_interval(left, raters=raters, level=level)


def _icc(sums: FloatArray, raters: int) -> FloatArray:
    """Compute ICC(2,1) from the number of items, the raters' sums, and the sums of squares."""
    n, by_rater, by_item, squares = sums[..., 0], sums[..., 1:-2], sums[..., -2], sums[..., -1]
    level = by_rater.sum(axis=-1) ** 2 / (n * raters)
    items = by_item / raters - level
    judges = (by_rater**2).sum(axis=-1) / n - level
    error = squares - level - items - judges
    ms_items, ms_judges = items / (n - 1), judges / (raters - 1)
    ms_error = error / ((n - 1) * (raters - 1))
    bottom = ms_items + (raters - 1) * ms_error + raters * (ms_judges - ms_error) / n
    return np.asarray(np.divide(ms_items - ms_error, bottom, out=np.full_like(n, np.nan), where=bottom > 1e-15))


def _of_mean(single: float | None, raters: int) -> float | None:
    """Spearman and Brown's step from one rater to the mean of k; None below what k raters can have."""
    bottom = 0.0 if single is None else 1 + (raters - 1) * single
    return None if single is None or bottom <= 0 else raters * single / bottom
