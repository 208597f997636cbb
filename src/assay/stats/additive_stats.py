"""Statistics of sums over items, with their Bayesian bootstrap: single ones, and averages over criteria.

Kappas, alpha and their kin are functions of a few sums over items. Weighting the items anew weights the
sums, so that one routine draws them all; items that add the same are drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.stats.bayes import METHOD, MOST_CLASSES, Pseudo, pseudo_table, quantile_interval, resample_sums
from assay.stats.classification import Marginals, Pairs, Statistic
from assay.stats.clusters import Clusters, Counts, FloatArray, Units, cluster_sums, units
from assay.stats.interval import no_interval
from assay.types import Interval, MetricValue

LEAST_ITEMS = 2
NOT_ASKED = "not computed for so many raters; --pair-intervals adds it"
TOO_FEW = f"needs at least {LEAST_ITEMS} items"


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive:
    """The contribution of each item to the sums, the statistic of the sums (NaN if undefined), and its pseudo-items.

    `undefined` is the reason to give for NaN, `unbounded` the reason why there can be no interval, `below_minus_1` why
    the number may lie where agreement is not expected to; `counts` says that rows stand for several equal items, and
    goes without clusters.
    """

    rows: FloatArray
    value: Callable[[FloatArray], FloatArray]
    pseudo: Pseudo
    clusters: Clusters = None
    counts: Counts = None
    undefined: str = "only one class occurs"
    unbounded: str | None = None
    below_minus_1: str | None = None

    @property
    def n(self) -> int:
        """Return the number of items."""
        return len(self.rows) if self.counts is None else int(self.counts.sum())

    def units(self) -> Units:
        """The items, or clusters of items, with what they add."""
        return units(*self.rows.T, clusters=self.clusters, counts=self.counts)

    def estimate(self) -> float:
        """Return the estimate; NaN if it is undefined or there are too few items."""
        if self.n < LEAST_ITEMS:
            return float("nan")
        unit_sums = self.units()
        return float(self.value(unit_sums.counts @ unit_sums.sums))


def table_sums(pairs: Pairs, statistic: Statistic) -> Additive:
    """Express a statistic of a confusion table by sums of hits, ground truths and predictions per class.

    >>> from assay.stats.classification import matthews
    >>> table_sums(Pairs(np.array([0, 1]), np.array([0, 1]), 2), matthews).estimate()
    1.0
    """
    classes, one = pairs.classes, np.eye(pairs.classes)
    hits = one[pairs.truth] * (pairs.truth == pairs.predicted)[:, None]

    def value(sums: FloatArray) -> FloatArray:
        parts = np.split(sums, 3, axis=-1)
        return statistic(Marginals(hits=parts[0], truth=parts[1], predicted=parts[2]))

    return Additive(
        rows=np.concatenate([hits, one[pairs.truth], one[pairs.predicted]], axis=1),
        value=value,
        pseudo=lambda draws, rng: pseudo_table(draws, classes, rng),
        clusters=pairs.clusters,
        counts=pairs.counts,
        unbounded=too_many(classes),
    )


def too_many(classes: int) -> str | None:
    """Return why so many classes have no interval; None if they have one."""
    return f"more than {MOST_CLASSES} classes" if classes > MOST_CLASSES else None


def bootstrapped(statistic: Additive, *, rng: np.random.Generator | None, level: float = 0.95) -> MetricValue:
    """Return the statistic with its Bayesian bootstrap interval, or None with the reason;

    without `rng` it has no interval.

    >>> from assay.stats.classification import kappa
    >>> codes = np.array([0, 1] * 10)
    >>> value = bootstrapped(table_sums(Pairs(codes, codes, 2), kappa), rng=np.random.default_rng(1))
    >>> value.value, 0.5 < value.interval.low < 0.95
    (1.0, True)
    """
    estimate = statistic.estimate()
    if np.isnan(estimate):
        return MetricValue(
            value=None, n=statistic.n, reason=TOO_FEW if statistic.n < LEAST_ITEMS else statistic.undefined
        )
    interval = (
        no_interval(NOT_ASKED, level=level, method=METHOD)
        if rng is None
        else _interval(statistic, estimate, rng, level)
    )
    return MetricValue(value=estimate, n=statistic.n, interval=interval)


def _interval(statistic: Additive, estimate: float, rng: np.random.Generator, level: float) -> Interval:
    unit_sums = statistic.units()
    reason = statistic.unbounded or (TOO_FEW.replace("items", "clusters") if unit_sums.n < LEAST_ITEMS else None)
    if reason is not None:
        return no_interval(reason, level=level, method=METHOD)
    # In units of the mean cluster, so that the pseudo-items weigh against clusters and not against copies.
    even = unit_sums.per(unit_sums.rows / unit_sums.n)
    interval = quantile_interval(
        resample_sums(even, statistic.value, statistic.pseudo, rng), estimate, unit_sums, level
    )
    if statistic.below_minus_1 is None or interval.low is None or interval.low >= -1:
        return interval
    return replace(interval, caveat="; ".join(filter(None, (interval.caveat, statistic.below_minus_1))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Macro:
    """The mean over the criteria on which a statistic is defined, their number, and the undefined criteria."""

    value: MetricValue
    defined: int
    undefined: tuple[int, ...]


def macro(criteria: Sequence[Additive], *, rng: np.random.Generator, level: float = 0.95) -> Macro:
    """Average a statistic over criteria, resampled by item: an item has the same weight in all its criteria.

    The `clusters` of a criterion are the ids of its items. Criteria without them share the same items in
    the same order. The value's n is the number of items.

    >>> from assay.stats.classification import kappa
    >>> one = table_sums(Pairs(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), 2), kappa)
    >>> two = table_sums(Pairs(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0]), 2), kappa)
    >>> mean = macro([one, two], rng=np.random.default_rng(1))
    >>> mean.value.value, mean.defined
    (0.75, 2)
    """
    estimates = [statistic.estimate() for statistic in criteria]
    undefined = tuple(place for place, estimate in enumerate(estimates) if np.isnan(estimate))
    defined = [statistic for place, statistic in enumerate(criteria) if place not in undefined]
    if not defined:
        value = MetricValue(value=None, n=0, reason="it is defined for no criterion")
        return Macro(value=value, defined=0, undefined=undefined)
    estimate = float(np.mean([estimate for estimate in estimates if not np.isnan(estimate)]))
    joined = _joined(defined)
    reason = next((statistic.unbounded for statistic in defined if statistic.unbounded), None)
    if reason is None and joined.n < LEAST_ITEMS:
        reason = TOO_FEW
    interval = (
        no_interval(reason, level=level, method=METHOD)
        if reason is not None
        else quantile_interval(_macro_draws(defined, joined, rng), estimate, joined, level)
    )
    value = MetricValue(value=estimate, n=joined.rows, interval=interval)
    return Macro(value=value, defined=len(defined), undefined=undefined)


def _macro_draws(defined: Sequence[Additive], joined: Units, rng: np.random.Generator) -> FloatArray:
    ends = np.cumsum([statistic.rows.shape[1] for statistic in defined])[:-1]

    def value(sums: FloatArray) -> FloatArray:
        parts = np.split(sums, ends, axis=-1)
        values = [statistic.value(part) for statistic, part in zip(defined, parts, strict=True)]
        return np.asarray(np.mean(values, axis=0))

    def pseudo(draws: int, random: np.random.Generator) -> FloatArray:
        return np.concatenate([statistic.pseudo(draws, random) for statistic in defined], axis=1)

    return resample_sums(joined, value, pseudo, rng)


def _joined(defined: Sequence[Additive]) -> Units:
    """One row per item with what it adds to every criterion, in units of the criterion's mean item."""
    ids = item_ids([statistic.clusters for statistic in defined], [statistic.n for statistic in defined])
    items = np.unique(np.concatenate(ids))
    blocks = []
    for statistic, item_id in zip(defined, ids, strict=True):
        groups = np.unique(item_id)
        block = np.zeros((len(items), statistic.rows.shape[1]))
        block[np.searchsorted(items, groups)] = cluster_sums(statistic.rows, item_id) * (len(groups) / statistic.n)
        blocks.append(block)
    table = np.concatenate(blocks, axis=1)
    unit_sums = units(*table.T).per(1.0)
    rows = max(len(items), max(statistic.n for statistic in defined))
    return Units(sums=unit_sums.sums, counts=unit_sums.counts, rows=rows)


def item_ids(clusters: Sequence[Clusters], sizes: Sequence[int]) -> list[npt.NDArray[np.integer]]:
    """The items of each criterion; without ids all criteria are taken to have the same items in the same order."""
    if any(item_id is None for item_id in clusters) and len(set(sizes)) > 1:
        raise ValueError("criteria of different items need the items' ids as clusters")
    return [np.arange(size) if item_id is None else item_id for item_id, size in zip(clusters, sizes, strict=True)]
