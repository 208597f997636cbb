"""Effects of irrelevant changes on a judge's scores, with intervals, compared with a threshold.

Newcombe, R. G. (1998), Improved confidence intervals for the difference between binomial proportions based on paired
data, Statistics in Medicine 17; Zou, G. Y. and Donner, A. (2008), Construction of confidence limits about effect
measures: a general approach, Statistics in Medicine 27: the square-and-add of two score intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import Clusters, FloatArray, units
from assay.stats.interval import ratio, z_value
from assay.types import Interval, MetricValue

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]
METHOD = "square_and_add"
MOST = 1_000_000
"""The largest number of items that is suggested; beyond it the effect lies at the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An effect held against ±threshold; `n_to_decide` items would tell where the interval now straddles it."""

    effect: MetricValue
    threshold: float
    verdict: Verdict
    n_to_decide: int | None = None


def mean_change(changes: npt.ArrayLike, clusters: Clusters = None, *, level: float = 0.95) -> MetricValue:
    """The mean of changes from -1 to 1, of which most are 0: what rose less what fell.

    Both are shares with score intervals of their own, which are squared and added. Where nothing changed the interval
    still has a width: ±z²/(n + z²).

    >>> value = mean_change([0, 0, 0, 1])
    >>> value.value, round(value.interval.low, 3), round(value.interval.high, 3)
    (0.25, -0.281, 0.699)
    """
    array = np.asarray(changes, dtype=np.float64)
    if not array.size:
        return MetricValue(value=None, n=0, reason="no item has both answers")
    if np.abs(array).max() > 1:
        raise ValueError("a change lies between -1 and 1")
    rose, fell = np.maximum(array, 0.0), np.maximum(-array, 0.0)
    ones = np.ones_like(array)
    up, down = (ratio(part, ones, clusters, level=level) for part in (rose, fell))
    assert up.value is not None
    assert down.value is not None
    assert up.interval is not None
    if up.interval.low is None:
        return MetricValue(value=up.value - down.value, n=len(array), interval=up.interval)
    low = _below(up, down, _correlation(rose, fell, clusters))
    high = -_below(down, up, _correlation(rose, fell, clusters))
    whole = ratio((array + 1) / 2, ones, clusters, level=level).standard_error
    interval = Interval(
        low=low,
        high=high,
        method=METHOD,
        level=level,
        clusters=up.interval.clusters,
        caveat=up.interval.caveat,
        standard_error=None if whole is None else 2 * whole,
    )
    return MetricValue(value=up.value - down.value, n=len(array), interval=interval)


def _below(more: MetricValue, less: MetricValue, correlation: float) -> float:
    """The lower bound of `more` less `less`."""
    assert more.value is not None
    assert less.value is not None
    assert more.interval is not None
    assert less.interval is not None
    assert more.interval.low is not None
    assert less.interval.high is not None
    one, other = more.value - more.interval.low, less.interval.high - less.value
    reach = math.sqrt(max(one**2 + other**2 - 2 * correlation * one * other, 0.0))
    return max(more.value - less.value - reach, -1.0)


def _correlation(rose: FloatArray, fell: FloatArray, clusters: Clusters) -> float:
    """Return the correlation of the two shares over clusters; without clusters it cannot be positive."""
    unit_sums = units(rose, fell, np.ones_like(rose), clusters=clusters)
    size = unit_sums.column(2)
    columns = [unit_sums.column(place) - unit_sums.total(place) / unit_sums.total(2) * size for place in (0, 1)]
    spread = [math.sqrt(float(unit_sums.counts @ column**2)) for column in columns]
    if min(spread) <= 1e-12:
        return 0.0
    return float(unit_sums.counts @ (columns[0] * columns[1])) / (spread[0] * spread[1])


def share_changed(changed: npt.ArrayLike, clusters: Clusters = None, *, level: float = 0.95) -> MetricValue:
    """Return the share of answers that change when the same question is asked again.

    >>> share_changed([0, 0, 1, 0]).value
    0.25
    """
    array = np.asarray(changed, dtype=np.float64)
    return ratio(array, np.ones_like(array), clusters, level=level, undefined="no item has both answers")


def place_preference(first: npt.ArrayLike, reversed_: npt.ArrayLike, options: npt.ArrayLike) -> FloatArray:
    """Return how much choices favour options shown first (1) or last (-1), from an order and its reverse.

    Whoever looks at the options alone chooses place p in one order and K - 1 - p in the other: the two add up to K - 1,
    and the leaning is 0, however much the choice wavers. A judge that takes the first option in a share b of all
    questions leans by b in the mean.

    >>> place_preference([0, 0], [4, 0], [5, 5]).tolist()
    [0.0, 1.0]
    """
    places = np.asarray(first, dtype=np.float64) + np.asarray(reversed_, dtype=np.float64)
    return np.asarray(1 - places / (np.asarray(options, dtype=np.float64) - 1))


def held_against(effect: MetricValue, threshold: float) -> Finding:
    """PASS if the interval lies inside ±threshold, FAIL if it lies outside, else INCONCLUSIVE with the n that would do.

    >>> held_against(mean_change([0.0] * 200), 0.05).verdict
    'PASS'
    >>> finding = held_against(mean_change([0.0] * 5), 0.05)
    >>> finding.verdict, finding.n_to_decide
    ('INCONCLUSIVE', 73)
    """
    interval = effect.interval
    if effect.value is None or interval is None or interval.low is None or interval.high is None:
        return Finding(effect=effect, threshold=threshold, verdict="INCONCLUSIVE")
    if -threshold <= interval.low and interval.high <= threshold:
        return Finding(effect=effect, threshold=threshold, verdict="PASS")
    if interval.low > threshold or interval.high < -threshold:
        return Finding(effect=effect, threshold=threshold, verdict="FAIL")
    return Finding(
        effect=effect, threshold=threshold, verdict="INCONCLUSIVE", n_to_decide=_to_decide(effect, interval, threshold)
    )


def _to_decide(effect: MetricValue, interval: Interval, threshold: float) -> int | None:
    """Items at which the interval would lie on one side, if the effect stayed as it is; None where it never would.

    Half-widths shrink with the root of n, but not below what n items show that all say the same: z²/(n + z²).
    """
    assert effect.value is not None
    assert interval.low is not None
    assert interval.high is not None
    room = abs(abs(effect.value) - threshold)
    if room <= 0:
        return None
    half = max(effect.value - interval.low, interval.high - effect.value)
    units_now = interval.clusters or effect.n
    squared = z_value(interval.level) ** 2
    varies = half > squared / (units_now + squared) + 1e-9
    of_spread = units_now * (half / room) ** 2 if varies else 0.0
    of_nothing = squared * (1 - room) / room
    needed = math.ceil(max(of_spread, of_nothing, units_now + 1))
    return needed if needed <= MOST else None
