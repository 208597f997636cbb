"""Abstention: who abstained, whether raters agree on it, and how much it could change the results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.classification import Pairs
from assay.stats.clusters import Clusters, IntArray
from assay.stats.interval import ratio
from assay.stats.kappa import cohens_kappa
from assay.stats.ratings import MISSING
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstentions:
    """Counts of pairs by who abstained, and what follows from them.

    `kappa` is the agreement on whether an item can be assessed at all. `accuracy_low` and `accuracy_high`
    count every pair in which either side abstained as wrong, and as right.
    """

    n: int
    assessed: int
    both: int
    truth_only: int
    judge_only: int
    truth_rate: MetricValue
    judge_rate: MetricValue
    kappa: MetricValue
    accuracy_low: MetricValue
    accuracy_high: MetricValue


def assessed(truth: IntArray, judge: IntArray, options: int, clusters: Clusters = None) -> Pairs:
    """Return the pairs without an abstention; codes are indices of options, -1 is an abstention.

    >>> assessed(np.array([0, 1, -1]), np.array([0, -1, 1]), 2).n
    1
    """
    both = (truth != MISSING) & (judge != MISSING)
    return Pairs(truth[both], judge[both], options, None if clusters is None else clusters[both])


def abstentions(
    truth: IntArray, judge: IntArray, clusters: Clusters = None, *, rng: np.random.Generator, level: float = 0.95
) -> Abstentions:
    """Count the abstentions (-1) of ground truth and judge, and bound the accuracy that they hide.

    >>> counts = abstentions(np.array([0, 1, -1, 1]), np.array([0, -1, 1, 1]), rng=np.random.default_rng(1))
    >>> counts.assessed, counts.judge_rate.value, counts.accuracy_low.value, counts.accuracy_high.value
    (2, 0.25, 0.5, 1.0)
    """
    no_truth, no_judge = truth == MISSING, judge == MISSING
    out, right = no_truth | no_judge, truth == judge

    def share(part: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> MetricValue:
        return ratio(part, np.ones(len(truth)), clusters, level=level, undefined="there are no pairs")

    sides = Pairs(no_truth.astype(np.int64), no_judge.astype(np.int64), 2, clusters)
    return Abstentions(
        n=len(truth),
        assessed=int((~out).sum()),
        both=int((no_truth & no_judge).sum()),
        truth_only=int((no_truth & ~no_judge).sum()),
        judge_only=int((no_judge & ~no_truth).sum()),
        truth_rate=share(no_truth),
        judge_rate=share(no_judge),
        kappa=cohens_kappa(sides, rng=rng, level=level),
        accuracy_low=share(right & ~out),
        accuracy_high=share(right | out),
    )
