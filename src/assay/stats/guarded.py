"""Bounds that allow for a rare extreme value: the Bayesian bootstrap with half a pseudo-observation at the far end.

Where most values are equal, the few others decide the mean, and a sample may lack the rarest of them. Each bound is
a quantile of sum(g a) / (sum(g w) + g_0 h), where the g are Gamma weights of the units with the sums (a, w) and g_0 is
that of the pseudo-observation. The quantile comes from a saddlepoint approximation, so no random numbers are needed.

Gaffke, N. (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
Mathematical Methods of Statistics 14: the bound with one whole pseudo-observation. Rubin, D. B. (1981), The Bayesian
bootstrap, Annals of Statistics 9. Barndorff-Nielsen, O. E. (1991), Modified signed log likelihood ratio, Biometrika 78.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from assay.stats.bootstrap import condense
from assay.stats.clusters import Clusters, FloatArray, Units

METHOD = "guarded"
CAVEAT = "few values differ: the bound allows for a rare extreme value"
PSEUDO_MASS = 0.5
# Far more steps than the root needs; a limit only so that nothing can loop forever.
MOST_STEPS = 200


def mostly_one_value(values: FloatArray, units: Units) -> bool:
    """Return whether at least half of the rows share one value; `units` are these rows or their clusters.

    >>> from assay.stats.clusters import units
    >>> values = np.array([1.0, 1.0, 0.4])
    >>> mostly_one_value(values, units(values, np.ones(3)))
    True
    """
    rows = units.counts if units.clusters is None else np.unique(values, return_counts=True)[1]
    return bool(2 * int(rows.max()) >= units.rows)


def pseudo_size(values: FloatArray, clusters: Clusters, units: Units) -> tuple[float, bool]:
    """Return the size of the pseudo-observation in rows, and whether units are rows rather than clusters.

    It has one row, or with clusters sqrt(design effect * mean size), the design effect between 1 and the mean size. The
    mean is that of the cluster which a row is in: where a few clusters hold most rows, they decide what can be missing.
    Copies of a row inside its cluster count as one, so that copying every row leaves every bound unchanged.
    """
    if clusters is None or units.clusters is None:
        return 1.0, True
    sizes = units.column(1)
    mean_size = float(units.counts @ sizes**2) / units.total(1)
    _, copies = np.unique(np.column_stack([clusters, values]), axis=0, return_counts=True)
    least = float(np.gcd.reduce(copies))
    if least == mean_size:
        return mean_size, True
    mean = float(values.mean())
    of_rows = float(((values - mean) ** 2).sum())
    of_clusters = float(units.counts @ (units.column(0) - mean * units.column(1)) ** 2)
    effect = min(max(of_clusters / of_rows, least), mean_size) if of_rows > 1e-24 * units.rows else mean_size
    return math.sqrt(effect * mean_size), False


def guarded_bounds(units: Units, *, size: float, c: float) -> tuple[float, float]:
    """Both bounds of sum(a) / sum(w), 0 <= a <= w; `c` is the quantile and `size` the rows of the pseudo-observation.

    >>> from assay.stats.clusters import units
    >>> low, high = guarded_bounds(units([1.0] * 30, [1.0] * 30), size=1.0, c=1.959964)
    >>> round(low, 3), round(high, 3)
    (0.918, 1.0)
    """
    part, whole, counts = _points(units)
    low = _lower(part, whole, counts, size, c)
    return low, 1 - _lower(whole - part, whole, counts, size, c)


def _points(units: Units) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums and counts of the units; very many distinct ones are put together, with the outermost as they are."""
    part, whole = units.column(0), units.column(1)
    mean = units.total(0) / units.total(1)
    residual, load, counts = condense(part - mean * whole, whole, units.counts.astype(np.float64)).T
    return np.clip(residual + mean * load, 0.0, load), load, counts


def _lower(part: FloatArray, whole: FloatArray, counts: FloatArray, size: float, c: float) -> float:
    # Below rounding there is nothing to tell from 0, which is a bound in any case.
    if float((part / whole).max()) <= 1e-12:
        return 0.0
    # The pseudo-observation is one more point with nothing in it.
    a, w, k = np.append(part, 0.0), np.append(whole, size), np.append(counts, PSEUDO_MASS)
    if np.all(w == w[0]):
        return _lower_of_equal(a / w[0], k, c)
    mean = float(k @ a) / float(k @ w)

    def excess(bound: float) -> float:
        y = a - bound * w
        return _excess(y, k, _saddlepoint(y, k)) + c

    least = mean / 2
    while excess(least) > 0:
        least /= 2
    # At the mean itself both roots are 0, and what is left is c.
    return _root(excess, (least, mean), (excess(least), c))


def _lower_of_equal(x: FloatArray, k: FloatArray, c: float) -> float:
    """The bound where all points weigh the same: each saddlepoint has its bound in closed form."""

    def bound_of(t: float) -> float:
        return float(k @ (x / (1 - t * x))) / float(k @ (1 / (1 - t * x)))

    def excess(log_t: float) -> float:
        t = -math.exp(log_t)
        bound = bound_of(t)
        return _excess(x - bound, k, t / (1 - t * bound)) + c

    mean = float(k @ x) / float(k.sum())
    left = right = math.log(c / math.sqrt(float(k @ (x - mean) ** 2)))
    at_left = at_right = excess(left)
    while at_left < 0:
        left, right, at_right = left - 1, left, at_left
        at_left = excess(left)
    while at_right > 0:
        left, right, at_left = right, right + 1, at_right
        at_right = excess(right)
    return bound_of(-math.exp(_root(excess, (left, right), (at_left, at_right))))


def _excess(y: FloatArray, k: FloatArray, s: float) -> float:
    """The corrected signed root of the chance that sum(g y) is below 0, at its saddlepoint s < 0."""
    r = -math.sqrt(max(2 * float(k @ np.log1p(-s * y)), 1e-300))
    u = s * math.sqrt(float(k @ (y / (1 - s * y)) ** 2))
    return r + math.log(u / r) / r


def _saddlepoint(y: FloatArray, k: FloatArray) -> float:
    """Return the root of the derivative of the cumulant function, sum k y / (1 - s y), between a pole and s = 0."""
    low, high = 1 / float(y.min()), 0.0
    s = low / 2
    for _ in range(MOST_STEPS):
        terms = y / (1 - s * y)
        slope = float(k @ terms)
        if slope > 0:
            high = s
        else:
            low = s
        step = s - slope / float(k @ terms**2)
        step = step if low < step < high else (low + high) / 2
        if abs(step - s) <= 1e-15 * abs(s):
            break
        s = step
    return s


def _root(
    function: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float], precision: float = 1e-13
) -> float:
    """Find a root between two ends where the function has different signs, by the Illinois method."""
    (left, right), (at_left, at_right), last = ends, values, 0
    middle = left
    for _ in range(MOST_STEPS):
        if abs(right - left) <= 1e-15 * abs(right):
            break
        middle = right - at_right * (right - left) / (at_right - at_left)
        value = function(middle)
        if abs(value) <= precision:
            break
        # An end that stays put twice counts half, or the steps would creep.
        if (value > 0) == (at_left > 0):
            left, at_left = middle, value
            at_right /= 2 if last < 0 else 1
            last = -1
        else:
            right, at_right = middle, value
            at_left /= 2 if last > 0 else 1
            last = 1
    return middle
