"""Krippendorff's alpha: chance-corrected agreement of any number of raters, with missing ratings.

Krippendorff, K. (2019), Content Analysis, 4th edition, chapter 12; Hayes, A. F. and Krippendorff, K. (2007),
Answering the call for a standard reliability measure for coding data, Communication Methods and Measures 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.stats.additive_stats import Additive, bootstrapped, too_many
from assay.stats.bayes import MOST_CLASSES, pseudo_pairs, sum_by
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.ratings import Ratings
from assay.types import MetricValue

Scale = Literal["nominal", "ordinal", "interval"]


def krippendorffs_alpha(
    ratings: Ratings, scale: Scale = "nominal", *, rng: np.random.Generator | None, level: float = 0.95
) -> MetricValue:
    """Agreement of raters beyond chance; 1 is perfect, 0 is chance. A gap is missing, not a category.

    Ordinal ranks options by value, equal values sharing a rank; interval takes squared differences of values.
    Items with fewer than two ratings say nothing and are not counted. Undefined where all ratings are equal.
    Without `rng` the value has no interval.

    >>> alpha = krippendorffs_alpha(Ratings.of([[1, 1], [2, 2], [1, 2]]), rng=np.random.default_rng(1))
    >>> round(alpha.value, 4)
    0.4444
    """
    return bootstrapped(alpha_sums(ratings, scale), rng=rng, level=level)


def alpha_sums(ratings: Ratings, scale: Scale = "nominal") -> Additive:
    """Krippendorff's alpha as sums over items, for `macro`."""
    counts = ratings.counts()
    size = counts.sum(axis=1)
    used = size >= 2
    clusters = None if ratings.clusters is None else ratings.clusters[used]
    sums = _SCALES[scale](counts[used], size[used], ratings.values)
    # A pseudo-item has two ratings and counts as often as makes it weigh what an item does.
    weight = float(size[used].mean()) / 2 if used.any() else 1.0
    options = ratings.options

    def pseudo(draws: int, rng: np.random.Generator) -> FloatArray:
        row, column, pieces = pseudo_pairs(draws, options, 1.0, rng)
        return sums.pseudo(row, column, pieces * weight)

    return Additive(
        rows=sums.rows,
        value=sums.value,
        pseudo=pseudo,
        clusters=clusters,
        undefined="all ratings are equal",
        unbounded=None if scale == "interval" else too_many(options),
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    """The contributions of items, alpha of their sums, and those of pseudo-items (first, second, weight)."""

    rows: FloatArray
    value: Callable[[FloatArray], FloatArray]
    pseudo: Callable[[IntArray, IntArray, FloatArray], FloatArray]


def _alpha(seen: FloatArray, chance: FloatArray, ratings: FloatArray) -> FloatArray:
    """1 - (n - 1) seen / chance, both measured in units where the largest distance is about 1."""
    # Random weights of a handful of items can add up to less than one rating.
    rest = np.maximum(ratings - 1, 0.0)
    defined = chance > 1e-12 * ratings**2
    return 1 - np.divide(rest * seen, chance, out=np.full_like(seen, np.nan), where=defined)


def _nominal(counts: FloatArray, size: FloatArray, values: FloatArray) -> _Sums:
    options = len(values)

    def value(sums: FloatArray) -> FloatArray:
        by_option = sums[..., 1:]
        ratings = by_option.sum(axis=-1)
        return _alpha(sums[..., 0], ratings**2 - (by_option**2).sum(axis=-1), ratings)

    def pseudo(row: IntArray, column: IntArray, pieces: FloatArray) -> FloatArray:
        seen = (2 * pieces * (row != column)).sum(axis=1)
        return np.column_stack([seen, sum_by(row, pieces, options) + sum_by(column, pieces, options)])

    seen = (size**2 - (counts**2).sum(axis=1)) / (size - 1)
    return _Sums(np.column_stack([seen, counts]), value, pseudo)


def _interval(counts: FloatArray, size: FloatArray, values: FloatArray) -> _Sums:
    spread = float(np.ptp(values)) if len(values) else 0.0
    place = (values - values.min(initial=np.inf)) / (spread or 1.0)

    def value(sums: FloatArray) -> FloatArray:
        seen, ratings, first, second = np.moveaxis(sums, -1, 0)
        return _alpha(seen, 2 * (ratings * second - first**2), ratings)

    def pseudo(row: IntArray, column: IntArray, pieces: FloatArray) -> FloatArray:
        one, other = place[row], place[column]
        parts = (2 * (one - other) ** 2, np.full(row.shape, 2.0), one + other, one**2 + other**2)
        return np.column_stack([(pieces * part).sum(axis=1) for part in parts])

    first, second = counts @ place, counts @ place**2
    seen = np.maximum(2 * (size * second - first**2), 0.0) / (size - 1)
    return _Sums(np.column_stack([seen, size, first, second]), value, pseudo)


def _ordinal(counts: FloatArray, size: FloatArray, values: FloatArray) -> _Sums:
    """Sums over pairs of ranks, since the distance of two ranks is how many ratings lie between them."""
    distinct, rank = np.unique(values, return_inverse=True)
    ranks = len(distinct)
    by_rank = counts @ np.eye(ranks)[rank]
    if ranks > MOST_CLASSES:
        # Without an interval the ratings between two ranks are known beforehand.
        totals = by_rank.sum(axis=0)
        return _interval(by_rank, size, np.cumsum(totals) - totals / 2)
    low, high = np.triu_indices(ranks)
    place = np.zeros((ranks, ranks), dtype=np.int64)
    place[low, high] = place[high, low] = np.arange(len(low))
    ends = np.eye(ranks)[low] + np.eye(ranks)[high] * (low != high)[:, None]

    def value(sums: FloatArray) -> FloatArray:
        totals = sums @ ends
        ratings = totals.sum(axis=-1)
        middle = (np.cumsum(totals, axis=-1) - totals / 2) / ratings[..., None]
        seen = 2 * (sums * (middle[..., low] - middle[..., high]) ** 2).sum(axis=-1)
        chance = 2 * (ratings * (totals * middle**2).sum(axis=-1) - (totals * middle).sum(axis=-1) ** 2)
        return _alpha(seen, chance, ratings)

    def pseudo(row: IntArray, column: IntArray, pieces: FloatArray) -> FloatArray:
        one, other = rank[row], rank[column]
        return sum_by(place[one, other], np.where(one == other, 2 * pieces, pieces), len(low))

    coincidences = by_rank[:, low] * (by_rank[:, high] - (low == high))
    return _Sums(coincidences / (size - 1)[:, None], value, pseudo)


_SCALES: dict[Scale, Callable[[FloatArray, FloatArray, FloatArray], _Sums]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
