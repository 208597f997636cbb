"""Two runs over the same items: the difference of their means, its interval, and how surprising it is.

McNemar, Q. (1947), Note on the sampling error of the difference between correlated proportions, Psychometrika 12.
Tango, T. (1998), Equivalence test and confidence interval for the difference in proportions for the paired-sample
design, Statistics in Medicine 17. Phipson, B. and Smyth, G. K. (2010), Permutation p-values should never be zero,
Statistical Applications in Genetics and Molecular Biology 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.stats.bootstrap import t_value
from assay.stats.clusters import ONE_CLUSTER, Clusters, FloatArray, Units, single_units, units
from assay.stats.guarded import CAVEAT, METHOD, guarded_bounds, pseudo_size
from assay.stats.interval import no_interval, z_value
from assay.stats.power import Design, items_needed
from assay.types import Interval, MetricValue

DRAWS = 9_999
LEAST_DRAWS = 999
MOST_SIGNS = 200_000_000
CHUNK_SIGNS = 4_000_000
# Fewer draws than these beyond the effect say little of how small the chance is: one draw more changes it by a tenth.
LEAST_BEYOND = 10
TOO_FEW = "a difference needs at least 2 items in both runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """The second mean minus the first with its interval, and the p-value of the difference.

    `narrow` is the interval that shows equivalence: of 90 % where the other is of 95 %. `share_squared` is the mean
    squared difference of an item, for 0/1 values the share that flipped; with clusters it counts what they cost.
    `unguarded` is Student's interval where the other one allows for rare extreme differences, and `span` the width of
    the declared range.
    """

    difference: MetricValue
    narrow: Interval | None
    p: float | None
    test: str
    wins: int
    ties: int
    losses: int
    share_squared: float
    unguarded: Interval | None = None
    span: float | None = None

    @property
    def n(self) -> int:
        """Return the number of items that both runs have."""
        return self.wins + self.ties + self.losses

    def clear_but_for_guard(self, p: float | None) -> bool:
        """Return whether the t interval and p are clear and only the guarded interval is not."""
        if self.unguarded is None or verdict(self, p) != "no clear difference":
            return False
        plain = replace(self, difference=replace(self.difference, interval=self.unguarded))
        return verdict(plain, p) != "no clear difference"

    @property
    def cancelled_by_one_in(self) -> int | None:
        """A change of the full range against the difference in one of so many items would bring it to 0."""
        if not self.difference.value or not self.span:
            return None
        gain = abs(self.difference.value) / self.span
        return math.floor((1 + gain) / gain + 1e-9)


def paired(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    rng: np.random.Generator,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Paired:
    """The difference of two means over the same items, in the same order.

    0/1 values without clusters: exact McNemar and Tango's interval. Anything else: t on the cluster sums of the
    differences, and the share of sign flips that reach as far. `bounds` is the declared range of the values; it
    gives a width to an interval where no item differs, keeps it inside the possible range, and where at least half of
    the items tie it guards the interval against rare extreme differences.

    >>> comparison = paired([0, 0, 1, 1, 0], [1, 1, 1, 0, 1], rng=np.random.default_rng(1))
    >>> comparison.difference.value, comparison.p, comparison.wins, comparison.losses
    (0.4, 0.625, 3, 1)
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    gap = second - first
    n, wins, losses = len(gap), int((gap > 0).sum()), int((gap < 0).sum())
    if n < 2:
        nothing = MetricValue(value=None, n=n, reason=TOO_FEW)
        return _paired(nothing, None, None, "none", (wins, n, losses), 0.0)
    binary = all(bool(((side == 0) | (side == 1)).all()) for side in (first, second))
    if clusters is None:
        distinct, counts = single_units(gap)
        unit_sums = units(distinct, np.ones_like(distinct), distinct**2, counts=counts)
    else:
        unit_sums = units(gap, np.ones_like(gap), gap**2, clusters=clusters)
    # Equivalence is two one-sided tests at 1 - level each, which is an interval of 2 * level - 1.
    wide, narrow = (level, round(2 * level - 1, 12))
    if binary and _of_one_mind(unit_sums):
        won, lost = (int(unit_sums.counts[unit_sums.column(0) * side > 0].sum()) for side in (1, -1))
        intervals = [
            replace(
                tango_interval(won, lost, unit_sums.n, level=interval_level),
                clusters=unit_sums.clusters,
                caveat=unit_sums.caveat,
            )
            for interval_level in (wide, narrow)
        ]
        value = MetricValue(value=(won - lost) / unit_sums.n, n=n, interval=intervals[0])
        p, squared = mcnemar(won, lost), (won + lost) / unit_sums.n * (n / unit_sums.n)
        return _paired(value, intervals[1], p, "mcnemar_exact", (wins, n, losses), squared)
    low, high = (0.0, 1.0) if binary else bounds or (0.0, 0.0)
    spread = _Spread.of(unit_sums, high - low if high > low else None)
    guard = _Guard.of(gap, clusters, unit_sums, spread)
    value = MetricValue(value=spread.mean, n=n, interval=guard.hull(spread.interval(wide)))
    p, test = _flipped(unit_sums, spread, rng)
    squared = float(np.mean(gap**2)) if unit_sums.clusters is None else spread.mean**2 + n * (spread.variance or 0.0)
    result = _paired(value, guard.hull(spread.interval(narrow)), p, test, (wins, n, losses), squared)
    return replace(result, unguarded=spread.interval(wide) if guard.stands else None, span=spread.span)


def _of_one_mind(unit_sums: Units) -> bool:
    """Return whether all clusters have one size and are won, lost or tied as a whole, so that each counts as one 0/1
    item.
    """
    gap, size, square = (unit_sums.column(place) for place in range(3))
    return bool(np.all(size == size[0]) and np.all(np.abs(gap) == square) and np.isin(square, (0.0, size[0])).all())


def _paired(
    value: MetricValue,
    narrow: Interval | None,
    p: float | None,
    test: str,
    counts: tuple[int, int, int],
    squared: float,
) -> Paired:
    wins, n, losses = counts
    ties = n - wins - losses
    return Paired(
        difference=value, narrow=narrow, p=p, test=test, wins=wins, ties=ties, losses=losses, share_squared=squared
    )


def mcnemar(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    >>> round(mcnemar(548, 519), 4)
    0.3914
    """
    from scipy.special import bdtr

    flips = wins + losses
    return 1.0 if wins == losses else min(1.0, 2 * float(bdtr(min(wins, losses), flips, 0.5)))


def tango_interval(wins: int, losses: int, n: int, *, level: float = 0.95) -> Interval:
    """Tango's score interval of (wins - losses) / n; it has a width also where nothing flipped.

    >>> interval = tango_interval(0, 0, 96)
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0385, 0.0385)
    """
    z = z_value(level)
    high, low = _tango_high(wins, losses, n, z), -_tango_high(losses, wins, n, z)
    error = math.sqrt(max(wins + losses - (wins - losses) ** 2 / n, 0.0)) / n
    return Interval(low=low, high=high, method="tango", level=level, standard_error=error)


def _tango_high(wins: int, losses: int, n: int, z: float) -> float:
    """The largest difference whose score statistic is not beyond z, by bisection: the statistic falls steadily."""
    low, high = (wins - losses) / n, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if tango_statistic(wins, losses, n, middle) > -z:
            low = middle
        else:
            high = middle
    return high


def tango_statistic(wins: int, losses: int, n: int, difference: float) -> float:
    """Return the distance of the observed difference from an assumed one, in standard errors fitted under the
    assumption.

    >>> tango_statistic(5, 5, 20, 0.0)
    0.0
    """
    linear = (2 * n - wins + losses) * difference - wins - losses
    constant = -losses * difference * (1 - difference)
    lost = (math.sqrt(max(linear**2 - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2 * lost + difference * (1 - difference))
    distance = wins - losses - n * difference
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


@dataclass(frozen=True, slots=True)
class _Spread:
    """The mean of the differences over clusters and its variance; None where all clusters differ alike."""

    units: Units
    mean: float
    variance: float | None
    span: float | None

    @classmethod
    def of(cls, unit_sums: Units, span: float | None) -> _Spread:
        mean = unit_sums.total(0) / unit_sums.total(1)
        residual = unit_sums.column(0) - mean * unit_sums.column(1)
        variance = None
        if unit_sums.n > 1 and float(np.abs(residual).max()) > 1e-12 * float(np.abs(unit_sums.column(0)).max()):
            variance = unit_sums.n / (unit_sums.n - 1) * float(unit_sums.counts @ residual**2) / unit_sums.total(1) ** 2
        return cls(unit_sums, mean, variance, span)

    def interval(self, level: float) -> Interval:
        """Student's; where all differ alike, what Tango's would be on the scale of the declared range."""
        unit_sums = self.units
        if unit_sums.n < 2:
            return no_interval(ONE_CLUSTER, level=level, method="t", clusters=unit_sums.clusters)
        if self.variance is not None:
            half, method = t_value(level, unit_sums.n - 1) * math.sqrt(self.variance), "t"
        elif self.span is not None:
            z = z_value(level) ** 2
            half, method = self.span * z / (unit_sums.n + z), "no_spread"
        else:
            reason = "all items differ alike and the field has no declared range"
            return no_interval(reason, level=level, method="t")
        # No difference of two means is larger than the range of the values.
        most = math.inf if self.span is None else max(self.span, abs(self.mean))
        low, high = max(self.mean - half, -most), min(self.mean + half, most)
        return Interval(
            low=low,
            high=high,
            method=method,
            level=level,
            clusters=unit_sums.clusters,
            caveat=unit_sums.caveat,
            standard_error=math.sqrt(self.variance or 0.0),
        )

    def chance(self) -> float:
        """The two-sided chance of the t statistic."""
        from scipy.special import stdtr

        if self.variance is None:
            return 0.0 if self.mean else 1.0
        return 2 * float(stdtr(self.units.n - 1, -abs(self.mean) / math.sqrt(self.variance)))


@dataclass(frozen=True, slots=True)
class _Guard:
    """Widens intervals of differences if at least half of them are 0; `scaled` is None if it does not apply."""

    scaled: Units | None
    span: float
    size: float = 1.0
    independent: bool = True

    @classmethod
    def of(cls, gap: FloatArray, clusters: Clusters, unit_sums: Units, spread: _Spread) -> _Guard:
        span = spread.span or 0.0
        ties = int((gap == 0).sum())
        # Where nothing varies the interval comes from the range alone, and is wide enough.
        if spread.variance is None or 2 * ties < len(gap) or float(np.abs(gap).max()) > span * (1 + 1e-9):
            return cls(None, span)
        part = np.clip((unit_sums.column(0) / span + unit_sums.column(1)) / 2, 0, unit_sums.column(1))
        scaled = Units(sums=np.column_stack([part, unit_sums.column(1)]), counts=unit_sums.counts, rows=unit_sums.rows)
        size, independent = pseudo_size((gap / span + 1) / 2, clusters, scaled)
        return cls(scaled, span, size, independent)

    @property
    def stands(self) -> bool:
        return self.scaled is not None

    def hull(self, interval: Interval) -> Interval:
        """The interval as it is, or widened to the bounds that allow for a rare extreme difference."""
        if self.scaled is None or interval.low is None or interval.high is None:
            return interval
        level = interval.level
        c = z_value(level) if self.independent else t_value(level, self.scaled.n - 1)
        low, high = (self.span * (2 * bound - 1) for bound in guarded_bounds(self.scaled, size=self.size, c=c))
        caveat = "; ".join(part for part in (interval.caveat, CAVEAT) if part)
        low, high = min(low, interval.low), max(high, interval.high)
        return replace(interval, low=low, high=high, method=METHOD, caveat=caveat)


def _flipped(unit_sums: Units, spread: _Spread, rng: np.random.Generator) -> tuple[float, str]:
    """The chance of so large a sum under random signs: by drawing them, or by t where the draws are too coarse.

    No chance is below that of the two sign patterns in which all clusters point one way.
    """
    sums = unit_sums.column(0)
    moved = sums != 0
    sizes, counts = np.abs(sums[moved]), unit_sums.counts[moved]
    draws = max(LEAST_DRAWS, min(DRAWS, MOST_SIGNS // max(len(sizes), 1)))
    # A sum of the same floats in another order differs in its last digits, and still reaches as far.
    reach = abs(unit_sums.total(0)) - 1e-9 * float(counts @ sizes)
    beyond = int((np.abs(_signed_sums(sizes, counts, draws, rng)) >= reach).sum())
    # The signs that were seen are one of the patterns: without the 1 a p-value could be 0.
    p = (1 + beyond) / (1 + draws)
    if beyond >= LEAST_BEYOND:
        return p, "sign_flip"
    # The power of 2 would underflow to 0 beyond about 1,070 clusters.
    least = 2.0 ** (1 - min(int(counts.sum()), 1_000))
    return max(min(p, spread.chance()), least), "t"


def _signed_sums(sizes: FloatArray, counts: npt.NDArray[np.int64], draws: int, rng: np.random.Generator) -> FloatArray:
    """Sums of the sizes under random signs; equal sizes are drawn together."""
    order = np.argsort(sizes, kind="stable")
    sizes, counts = sizes[order], counts[order]
    single = counts == 1
    several = 2 * rng.binomial(counts[~single], 0.5, size=(draws, int((~single).sum()))) - counts[~single]
    drawn = several @ sizes[~single]
    alone = sizes[single]
    rows = max(1, CHUNK_SIGNS // max(len(alone), 1))
    for start in range(0, draws if len(alone) else 0, rows):
        part = drawn[start : start + rows]
        bits = np.unpackbits(rng.integers(0, 256, size=(len(part), -(-len(alone) // 8)), dtype=np.uint8), axis=1)
        part += 2 * (bits[:, : len(alone)] @ alone) - alone.sum()
    return np.asarray(drawn, dtype=np.float64)


def items_to_decide(share_squared: float, difference: float, *, level: float = 0.95, power: float = 0.8) -> int | None:
    """Return how many items would show a difference this large with this power; None if it cannot be computed.

    `share_squared` is the mean squared difference of an item: the share of flips of 0/1 values.

    >>> items_to_decide(0.2, 0.05)
    626
    """
    if share_squared <= 0:
        return None
    design = Design(at_null=max(share_squared, difference**2), loses_square=True)
    return items_needed(design, difference, power=power, level=level)


Verdict = Literal["better", "worse", "equivalent", "undecided", "no clear difference"]


def verdict(result: Paired, p: float | None, *, margin: float | None = None) -> Verdict:
    """Return the verdict on a difference: clear only if its interval excludes 0 and the adjusted p-value is small.

    With a margin, a difference whose narrow interval lies inside ±margin is equivalence, however clear it is.

    >>> verdict(paired([0] * 9, [1] * 9, rng=np.random.default_rng(1)), 0.004)
    'better'
    """
    interval = result.difference.interval
    if margin is not None and _inside(result.narrow, margin):
        return "equivalent"
    unclear: Verdict = "no clear difference" if margin is None else "undecided"
    if interval is None or interval.low is None or interval.high is None or p is None:
        return unclear
    if interval.low <= 0 <= interval.high or p >= 1 - interval.level:
        return unclear
    return "better" if interval.low > 0 else "worse"


def lies_outside(interval: Interval | None, margin: float) -> bool:
    """Say whether a whole interval lies beyond ±margin on one side.

    >>> lies_outside(Interval(low=0.3, high=0.9, method="t"), 0.2)
    True
    """
    if interval is None or interval.low is None or interval.high is None:
        return False
    return interval.low > margin or interval.high < -margin


def _inside(narrow: Interval | None, margin: float) -> bool:
    if narrow is None or narrow.low is None or narrow.high is None:
        return False
    return -margin < narrow.low and narrow.high < margin
