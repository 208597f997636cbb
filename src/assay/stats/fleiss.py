"""Fleiss' kappa, Scott's pi, and Gwet's AC1 and AC2: agreement of several raters, with gaps, beyond chance.

Fleiss, J. L. (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76.
Scott, W. A. (1955), Reliability of content analysis, Public Opinion Quarterly 19.
Gwet, K. L. (2014), Handbook of Inter-Rater Reliability, 4th edition, chapters 2 to 5.

All take the agreement of an item's pairs of votes, averaged over items with at least two votes, and the
mean over items of the share of votes that each option got. They differ in what they call chance. Items with one
vote are in the shares only: where they all say the same, and the few items with two votes are disputed, Fleiss'
kappa falls below -1, which it never does without gaps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.stats.additive_stats import Additive, bootstrapped, too_many
from assay.stats.bayes import pseudo_amount, pseudo_pairs, sum_by
from assay.stats.classification import Pairs
from assay.stats.clusters import FloatArray
from assay.stats.kappa import Weighting, distances
from assay.stats.ratings import Ratings
from assay.types import MetricValue


def fleiss_kappa(ratings: Ratings, *, rng: np.random.Generator, level: float = 0.95) -> MetricValue:
    """Compute the agreement of several raters beyond the chance given by the options' shares;

    undefined with one option.

    >>> kappa = fleiss_kappa(Ratings.of([[1, 1], [2, 2], [1, 2]]), rng=np.random.default_rng(1))
    >>> round(kappa.value, 4)
    0.3333
    """
    return bootstrapped(fleiss_sums(ratings), rng=rng, level=level)


def scotts_pi(pairs: Pairs, *, rng: np.random.Generator, level: float = 0.95) -> MetricValue:
    """Agreement of two raters beyond chance, as if both used the options equally often: Fleiss' kappa of two.

    >>> pi = scotts_pi(Pairs(np.array([0, 1, 0]), np.array([0, 1, 1]), 2), rng=np.random.default_rng(1))
    >>> round(pi.value, 4)
    0.3333
    """
    codes = np.column_stack([pairs.truth, pairs.predicted])
    if pairs.counts is not None:
        codes = np.repeat(codes, pairs.counts, axis=0)
    ratings = Ratings(codes=codes, values=np.arange(pairs.classes, dtype=np.float64), clusters=pairs.clusters)
    return fleiss_kappa(ratings, rng=rng, level=level)


def gwets_ac(
    ratings: Ratings, weighting: Weighting = "none", *, rng: np.random.Generator, level: float = 0.95
) -> MetricValue:
    """AC1, or AC2 weighted by the options' values: chance is agreement on the items that are hard to rate.

    Unlike kappa it stays near the observed agreement when nearly all items belong to one option, and it is
    defined when all do. It needs a scale of two options at least.

    >>> ac1 = gwets_ac(Ratings.of([[1, 1], [2, 2], [1, 2]]), rng=np.random.default_rng(1))
    >>> round(ac1.value, 4)
    0.3333
    """
    return bootstrapped(gwet_sums(ratings, weighting), rng=rng, level=level)


def fleiss_sums(ratings: Ratings) -> Additive:
    """Fleiss' kappa as sums over items, for `macro`."""
    return _sums(ratings, 1 - distances(ratings.values), lambda share: (share**2).sum(axis=-1))


def gwet_sums(ratings: Ratings, weighting: Weighting = "none") -> Additive:
    """AC1 or AC2 as sums over items, for `macro`."""
    alike, k = 1 - distances(ratings.values, weighting), ratings.options
    scale = alike.sum() / (k * (k - 1)) if k > 1 and not alike.all() else np.nan
    return _sums(ratings, alike, lambda share: scale * (share * (1 - share)).sum(axis=-1))


def _sums(ratings: Ratings, alike: FloatArray, chance: Callable[[FloatArray], FloatArray]) -> Additive:
    counts = ratings.counts()
    size = counts.sum(axis=1)
    voted, paired = size > 0, size >= 2
    agreeing = (counts * (counts @ alike - 1)).sum(axis=1)
    observed = np.divide(agreeing, size * (size - 1), out=np.zeros_like(size), where=paired)
    shares = counts / np.maximum(size, 1)[:, None]
    options = ratings.options

    def value(sums: FloatArray) -> FloatArray:
        seen, items, by_option = sums[..., 0], sums[..., 1], sums[..., 2:]
        agreement = np.divide(seen, items, out=np.full_like(seen, np.nan), where=items > 0)
        share = by_option / by_option.sum(axis=-1, keepdims=True)
        by_chance = chance(share)
        rest = 1 - by_chance
        return np.divide(agreement - by_chance, rest, out=np.full_like(seen, np.nan), where=rest > 1e-12)

    def pseudo(draws: int, rng: np.random.Generator) -> FloatArray:
        row, column, pieces = pseudo_pairs(draws, options, pseudo_amount(options), rng)
        seen = (pieces * alike[row, column]).sum(axis=1)
        votes = (sum_by(row, pieces, options) + sum_by(column, pieces, options)) / 2
        return np.column_stack([seen, pieces.sum(axis=1), votes])

    return Additive(
        rows=np.column_stack([observed, paired, shares])[voted],
        value=value,
        pseudo=pseudo,
        clusters=None if ratings.clusters is None else ratings.clusters[voted],
        undefined="only one option occurs" if paired.any() else "no item has two votes",
        unbounded=too_many(options),
        below_minus_1=_below(int((size == 1).sum())),
    )


def _below(single: int) -> str:
    """Return why a value may be below -1: items with one vote, or a chance agreement above one half."""
    if not single:
        return "below -1: agreement is rarer than by chance, which alone gives more than half"
    items = "1 item with one vote counts" if single == 1 else f"{single:,} items with one vote count"
    return f"below -1: {items} for the options' shares, but cannot agree or disagree"
