"""Bootstrap-t: the interval of a mean whose values have no declared range.

Efron, B. and Tibshirani, R. (1993), An Introduction to the Bootstrap, chapter 12. Unlike the t interval
it follows the skewness of the data.
"""

from __future__ import annotations

import numpy as np

from assay.stats.clusters import ONE_CLUSTER, FloatArray, Units
from assay.types import Interval

DRAWS = 9_999
CHUNK = 2_000
# Below this the resamples are too few to say anything of their own: 3 of 27 have all values equal.
LEAST_UNITS = 4
# More distinct units than these are put together: the outermost stay as they are, since they make the
# skewness; the inner ones become bins, each shown by two points with the bin's mean and variance.
MOST_DISTINCT = 256
OUTER = 32
BINS = 64


def t_value(level: float, freedom: float) -> float:
    """Student's quantile of a two-sided interval.

    >>> round(t_value(0.95, 29), 3)
    2.045
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def bootstrap_t(unit_sums: Units, *, rng: np.random.Generator, level: float = 0.95, draws: int = DRAWS) -> Interval:
    """The bootstrap-t interval of sum(a) / sum(w) over units with the sums (a, w).

    A resample in which all units are equal has no standard error of its own; it takes that of the data
    divided by the root of n + 1, as if one more unit had been seen. With that the bounds are finite and
    cover, also where nearly all values are equal.
    """
    n = unit_sums.n
    even = unit_sums.per(unit_sums.total(1) / n) if n else unit_sums
    centre = even.total(0) / even.total(1) if n else 0.0
    residual, weight = even.column(0) - centre * even.column(1), even.column(1)
    spread = float(np.abs(residual).max(initial=0.0))
    if n < 2 or spread <= 1e-10 * float(np.abs(even.column(0)).max()):
        alone = ONE_CLUSTER if unit_sums.rows > 1 else "one value has no spread"
        reason = alone if n < 2 else "all values are equal and the field has no declared range"
        return Interval(
            low=None, high=None, method="bootstrap_t", level=level, clusters=unit_sums.clusters, caveat=reason
        )
    # Measured in its own size, so that squares neither vanish nor overflow.
    residual = residual / spread
    error = float(np.sqrt(n / (n - 1) * (even.counts @ residual**2))) / n
    if n < LEAST_UNITS:
        half = t_value(level, n - 1) * error * spread
        return _interval(unit_sums, centre - half, centre + half, level=level, method="t", error=error * spread)
    points = condense(residual, weight, even.counts.astype(np.float64))
    drawn = _studentised(points, n, error, rng, draws)
    below, above = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    error *= spread
    # The quantiles change sides: where resamples lie above the estimate, the truth may lie as far below it.
    return _interval(
        unit_sums, centre - above * error, centre - below * error, level=level, method="bootstrap_t", error=error
    )


def _interval(unit_sums: Units, low: float, high: float, *, level: float, method: str, error: float) -> Interval:
    return Interval(
        low=float(low),
        high=float(high),
        method=method,
        level=level,
        clusters=unit_sums.clusters,
        caveat="few values" if method == "t" else unit_sums.caveat,
        standard_error=error,
    )


def condense(residual: FloatArray, weight: FloatArray, counts: FloatArray) -> FloatArray:
    """Rows of (residual, weight, count) with the same mean and variance, few enough to work with quickly."""
    order = np.lexsort((weight, residual))
    points = np.column_stack([residual, weight, counts])[order]
    if len(points) <= MOST_DISTINCT:
        return points
    # The outermost values decide the ends of the interval and stay as they are; only the middle is binned.
    bins = np.array_split(points[OUTER:-OUTER], BINS)
    inner = [point for part in bins for point in _two_points(part)]
    return np.vstack([points[:OUTER], inner, points[-OUTER:]])


def _two_points(part: FloatArray) -> list[tuple[float, float, float]]:
    residual, weight, counts = part.T
    count = float(counts.sum())
    middle, load = float(residual @ counts) / count, float(weight @ counts) / count
    side = float(np.sqrt(((residual - middle) ** 2) @ counts / count))
    return [(middle - side, load, count / 2), (middle + side, load, count / 2)]


def _studentised(points: FloatArray, n: int, error: float, rng: np.random.Generator, draws: int) -> FloatArray:
    residual, weight, counts = points.T
    share = counts / counts.sum()
    features = np.column_stack([residual, weight, residual**2, residual * weight, weight**2])
    parts = []
    for start in range(0, draws, CHUNK):
        drawn = rng.multinomial(n, share, size=min(CHUNK, draws - start)) @ features
        top, bottom, rr, rw, ww = drawn.T
        shift = top / bottom
        squares = n / (n - 1) * (rr - 2 * shift * rw + shift**2 * ww)
        equal = squares <= 1e-10 * (rr + shift**2 * ww)
        errors = np.sqrt(np.where(equal, 1.0, squares)) / bottom
        parts.append(shift / np.where(equal, error / np.sqrt(n + 1), errors))
    return np.concatenate(parts)
