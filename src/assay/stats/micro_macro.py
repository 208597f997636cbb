"""Numbers over all criteria of a rubric: pooled pairs, beside the mean over criteria in `additive.macro`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.stats.additive_stats import Additive, item_ids, table_sums
from assay.stats.classification import Marginals, Pairs
from assay.stats.clusters import FloatArray
from assay.stats.interval import ratio
from assay.types import MetricValue


def micro_accuracy(criteria: Sequence[Pairs], *, level: float = 0.95) -> MetricValue:
    """The share of (item, criterion) pairs that agree, pooled over criteria; pairs of one item are one cluster.

    The `clusters` of a criterion's pairs are the ids of its items. Criteria without them share the same items
    in the same order.

    >>> one = Pairs(np.array([0, 1]), np.array([0, 1]), 2)
    >>> two = Pairs(np.array([0, 2]), np.array([1, 2]), 3)
    >>> accuracy = micro_accuracy([one, two])
    >>> accuracy.value, accuracy.n, accuracy.interval.clusters
    (0.75, 4, 2)
    """
    right = [np.asarray(pairs.truth == pairs.predicted, dtype=np.float64) for pairs in criteria]
    ids = item_ids([pairs.clusters for pairs in criteria], [pairs.n for pairs in criteria])
    hits = np.concatenate([np.zeros(0), *right])
    clusters = np.concatenate([np.zeros(0, dtype=np.int64), *ids])
    return ratio(hits, np.ones_like(hits), clusters, level=level, undefined="no pair was assessed on both sides")


def accuracy_sums(pairs: Pairs) -> Additive:
    """Accuracy as sums over pairs, for `macro`."""

    def accuracy(table: Marginals) -> FloatArray:
        return np.asarray(table.hits.sum(axis=-1) / table.truth.sum(axis=-1))

    return table_sums(pairs, accuracy)
