"""The jackknife on a scale where a correlation is nearly normal: leave out each unit in turn.

Efron, B. and Tibshirani, R. (1993), An Introduction to the Bootstrap, chapter 11. Fisher, R. A. (1915, 1925):
z of correlations, and of intraclass correlations of k raters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.clusters import FEW_CLUSTERS, FloatArray
from assay.stats.interval import no_interval
from assay.types import Interval

METHOD = "jackknife_fisher_z"
EDGE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An estimate, its leave-one-out estimates, the size of each unit, and whether units are clusters."""

    estimate: float
    without: FloatArray
    counts: npt.NDArray[np.integer] | None = None
    clustered: bool = False


def fisher_interval(estimates: LeftOut, *, raters: int = 2, level: float = 0.95) -> Interval:
    """The jackknife interval on Fisher's z with t(n - 1); with more than two raters, of an intraclass correlation.

    z = log((1 + (k - 1) r) / (1 - r)) / 2, which is atanh(r) for k = 2 raters.

    >>> left = LeftOut(estimate=0.5, without=np.array([0.4, 0.5, 0.5, 0.6]))
    >>> interval = fisher_interval(left)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.023, 0.791)
    """
    bottom = -1 / (raters - 1)
    seen = np.append(estimates.without, estimates.estimate)
    if not np.all((seen > bottom + EDGE) & (seen < 1 - EDGE)):
        return no_interval("perfect, or perfect or undefined without one of the pairs", level=level, method=METHOD)
    counts = np.ones(len(estimates.without)) if estimates.counts is None else estimates.counts.astype(np.float64)
    n = float(counts.sum())
    z = _z(estimates.without, raters)
    error = float(np.sqrt((n - 1) / n * (counts @ (z - counts @ z / n) ** 2)))
    if error <= EDGE:
        return no_interval("leaving out any pair changes nothing", level=level, method=METHOD)
    half = t_value(level, n - 1) * error
    centre = float(_z(np.asarray(estimates.estimate), raters))
    return Interval(
        low=_back(centre - half, raters),
        high=_back(centre + half, raters),
        method=METHOD,
        level=level,
        clusters=int(n) if estimates.clustered else None,
        caveat="few clusters" if estimates.clustered and n < FEW_CLUSTERS else None,
        standard_error=error / _slope(estimates.estimate, raters),
    )


def _z(r: FloatArray, raters: int) -> FloatArray:
    return np.asarray(np.log1p((raters - 1) * r) - np.log1p(-r)) / 2


def _slope(r: float, raters: int) -> float:
    """The slope of Fisher's z, which carries its standard error back to the correlation."""
    return ((raters - 1) / (1 + (raters - 1) * r) + 1 / (1 - r)) / 2


def _back(z: float, raters: int) -> float:
    # (e^2z - 1) / (e^2z + k - 1), written so that large z does not overflow.
    small = float(np.exp(-2 * abs(z)))
    return (1 - small) / (1 + (raters - 1) * small) if z > 0 else (small - 1) / (small + raters - 1)
