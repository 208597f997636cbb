"""Differences of two statistics of sums over the same items: F1, kappa, MCC, macro averages.

The paired form of the Bayesian bootstrap: an item keeps one random weight in both runs, so that what is hard for both
cancels out. The p-value swaps the two runs at random within each item, which changes nothing if they are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from assay.stats.bayes import METHOD, pseudo_pairs, quantile_interval, resample_sums, sum_by
from assay.stats.clusters import Clusters, FloatArray, IntArray, Units, units
from assay.stats.interval import no_interval
from assay.stats.paired import TOO_FEW, Paired
from assay.types import MetricValue

SWAPS = 9_999
CHUNK_NUMBERS = 4_000_000
TEST = "swap_permutation"

PseudoSums = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SumPair:
    """The contributions of items to the sums of two runs, and the statistic of the sums (NaN if undefined).

    `before` and `after` hold one row per distinct item and `codes` the row of each item. `pseudo` draws the sums of the
    pseudo-items of both runs, `undefined` is the reason to give for NaN, `unbounded` why there can be no interval.
    """

    before: FloatArray
    after: FloatArray
    codes: IntArray
    value: Callable[[FloatArray], FloatArray]
    pseudo: PseudoSums
    undefined: str
    unbounded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSums:
    """The difference of two statistics over the same items, and the two values."""

    difference: Paired
    before: MetricValue
    after: MetricValue


def paired_sums(
    pair: SumPair, clusters: Clusters = None, *, rng: np.random.Generator, level: float = 0.95
) -> PairedSums:
    """Compute the second value minus the first, with its paired bootstrap interval and permutation p-value."""
    n, width = len(pair.codes), pair.before.shape[1]
    rows = np.concatenate([pair.before, pair.after], axis=1)
    present = np.bincount(pair.codes, minlength=len(rows))
    if clusters is None:
        unit_sums = units(*rows[present > 0].T, counts=present[present > 0])
    else:
        unit_sums = units(*rows[pair.codes].T, clusters=clusters)
    totals = unit_sums.counts @ unit_sums.sums
    first, second = (float(pair.value(part)) for part in (totals[:width], totals[width:]))
    wins, losses = _single_effects(pair, totals[:width], present)

    def difference(value: MetricValue, p: float | None, squared: float = 0.0) -> Paired:
        ties = n - wins - losses
        test = "none" if p is None else TEST
        return Paired(
            difference=value, narrow=None, p=p, test=test, wins=wins, ties=ties, losses=losses, share_squared=squared
        )

    if n < 2 or np.isnan(first) or np.isnan(second):
        nothing = MetricValue(value=None, n=n, reason=TOO_FEW if n < 2 else pair.undefined)
        before, after = (
            nothing if np.isnan(side) else MetricValue(value=side, n=n, interval=no_interval(TOO_FEW, level=level))
            for side in (first, second)
        )
        return PairedSums(difference=difference(nothing, None), before=before, after=after)
    p = _swapped(unit_sums, pair.value, abs(second - first), rng)
    reason = pair.unbounded or ("needs at least 2 clusters" if unit_sums.n < 2 else None)
    if reason is not None:
        missing = no_interval(reason, level=level, method=METHOD)
        before, after, value = (MetricValue(value=v, n=n, interval=missing) for v in (first, second, second - first))
        return PairedSums(difference=difference(value, p), before=before, after=after)

    def both(sums: FloatArray) -> FloatArray:
        return np.stack([pair.value(sums[:, :width]), pair.value(sums[:, width:])], axis=1)

    # In units of the mean cluster, so that the pseudo-items weigh against clusters and not against copies.
    even = unit_sums.per(unit_sums.rows / unit_sums.n)
    drawn = resample_sums(even, both, lambda draws, random: np.concatenate(pair.pseudo(draws, random), axis=1), rng)
    gap = drawn[:, 1] - drawn[:, 0]
    value = MetricValue(value=second - first, n=n, interval=quantile_interval(gap, second - first, unit_sums, level))
    return PairedSums(
        difference=replace(
            difference(value, p, (second - first) ** 2 + n * float(gap.var())),
            narrow=quantile_interval(gap, second - first, unit_sums, round(2 * level - 1, 12)),
        ),
        before=MetricValue(value=first, n=n, interval=quantile_interval(drawn[:, 0], first, unit_sums, level)),
        after=MetricValue(value=second, n=n, interval=quantile_interval(drawn[:, 1], second, unit_sums, level)),
    )


def _single_effects(pair: SumPair, totals: FloatArray, present: IntArray) -> tuple[int, int]:
    """Count the items that raise, and that lower, the first value when they alone are replaced by the second run's."""
    effect = pair.value(totals + pair.after - pair.before) - pair.value(totals)
    return int(present[effect > 1e-12].sum()), int(present[effect < -1e-12].sum())


def _swapped(
    unit_sums: Units, value: Callable[[FloatArray], FloatArray], reach: float, rng: np.random.Generator
) -> float:
    """Compute the share of random swaps within items whose difference is at least as large as the observed one."""
    width = unit_sums.sums.shape[1] // 2
    totals = unit_sums.counts @ unit_sums.sums
    change = unit_sums.sums[:, width:] - unit_sums.sums[:, :width]
    moved = np.any(change != 0, axis=1)
    change, counts = change[moved], unit_sums.counts[moved]
    if not len(counts):
        return 1.0
    beyond, chunk = 0, max(1, CHUNK_NUMBERS // max(len(counts), width))
    for start in range(0, SWAPS, chunk):
        shift = rng.binomial(counts, 0.5, size=(min(chunk, SWAPS - start), len(counts))) @ change
        gap = value(totals[width:] - shift) - value(totals[:width] + shift)
        # A swap that leaves a number undefined counts against the difference.
        beyond += int((np.isnan(gap) | (np.abs(gap) >= reach - 1e-12)).sum())
    return (1 + beyond) / (1 + SWAPS)


def pseudo_table_pair(
    draws: int, classes: int, amount: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw hits, ground truths and predictions per class of pseudo-items for two runs.

    The pseudo-items are spread evenly over all triples of a true class and two predictions: an item has one truth and
    one weight, whatever the runs say of it.
    """
    truth, predicted, pieces = pseudo_pairs(draws, classes, amount, rng)
    other = rng.integers(0, classes, size=truth.shape)
    whole = sum_by(truth, pieces, classes)
    first, second = (
        np.concatenate(
            [sum_by(truth, np.where(truth == side, pieces, 0.0), classes), whole, sum_by(side, pieces, classes)], axis=1
        )
        for side in (predicted, other)
    )
    return first, second
