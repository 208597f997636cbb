"""Confusion counts and their statistics: precision, recall, F1, macro averages, Cohen's kappa, MCC.

Cohen, J. (1960), A coefficient of agreement for nominal scales. Gorodkin, J. (2004), Comparing two K-category
assignments by a K-category correlation coefficient: MCC for more than two classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import Clusters, Counts, FloatArray, IntArray
from assay.stats.interval import f1, rate, ratio
from assay.types import MetricValue


@dataclass(frozen=True, slots=True)
class Marginals:
    """Per class: the number of hits, ground truths and predictions; leading axes are resamples."""

    hits: FloatArray
    truth: FloatArray
    predicted: FloatArray


Statistic = Callable[[Marginals], FloatArray]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Truth and prediction of each sample as class codes 0 .. classes - 1, and the clusters of the samples.

    `counts` says that pairs stand for several equal ones, and goes without clusters.
    """

    truth: IntArray
    predicted: IntArray
    classes: int
    clusters: Clusters = None
    counts: Counts = None

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return len(self.truth) if self.counts is None else int(self.counts.sum())

    def confusion(self) -> IntArray:
        """Count how often each class (row) was predicted as each class (column).

        >>> Pairs(np.array([0, 1, 1]), np.array([0, 0, 1]), 2).confusion().tolist()
        [[1, 0], [1, 1]]
        """
        k = self.classes
        cells = np.bincount(self.truth * k + self.predicted, self.counts, minlength=k * k)
        return np.asarray(cells, dtype=np.int64).reshape(k, k)


def marginals(matrix: npt.ArrayLike) -> Marginals:
    """The hits and sums of a confusion matrix."""
    table = np.asarray(matrix, dtype=np.float64)
    return Marginals(hits=np.diagonal(table).copy(), truth=table.sum(axis=1), predicted=table.sum(axis=0))


def accuracy(pairs: Pairs, *, level: float = 0.95) -> MetricValue:
    """Return the share of pairs that agree; None only without pairs."""
    right = (pairs.truth == pairs.predicted).astype(np.float64)
    return ratio(
        right,
        np.ones_like(right),
        pairs.clusters,
        counts=pairs.counts,
        level=level,
        undefined="no sample has a value",
    )


def binary(pairs: Pairs, *, level: float = 0.95) -> dict[str, MetricValue]:
    """Accuracy, precision, recall and F1 of yes (1) and no (0), each None with a reason when undefined.

    >>> metrics = binary(Pairs(np.array([1, 1, 0]), np.array([1, 0, 0]), 2))
    >>> {name: round(value.value, 3) for name, value in metrics.items()}
    {'accuracy': 0.667, 'precision': 1.0, 'recall': 0.5, 'f1_score': 0.667}
    """
    precision, recall, score = one_class(pairs, 1, level=level)
    return {
        "accuracy": accuracy(pairs, level=level),
        "precision": precision,
        "recall": recall,
        "f1_score": score,
    }


def one_class(pairs: Pairs, code: int, *, level: float = 0.95) -> tuple[MetricValue, MetricValue, MetricValue]:
    """Precision, recall and F1 of one class against all others."""
    truth, predicted = pairs.truth == code, pairs.predicted == code
    hit = (truth & predicted).astype(np.float64)
    false_alarm = (~truth & predicted).astype(np.float64)
    miss = (truth & ~predicted).astype(np.float64)

    def share(whole: FloatArray, undefined: str) -> MetricValue:
        return rate(hit, whole, pairs.clusters, counts=pairs.counts, level=level, undefined=undefined)

    return (
        share(hit + false_alarm, "it was never predicted (TP + FP = 0)"),
        share(hit + miss, "it is never the truth (TP + FN = 0)"),
        f1(hit, false_alarm, miss, pairs.clusters, counts=pairs.counts, level=level),
    )


def kappa(table: Marginals) -> FloatArray:
    """Cohen's kappa: agreement beyond chance; NaN where chance alone agrees always.

    >>> round(float(kappa(marginals([[20, 5], [10, 15]]))), 3)
    0.4
    """
    total = table.truth.sum(axis=-1)
    observed = table.hits.sum(axis=-1) / total
    chance = (table.truth * table.predicted).sum(axis=-1) / total**2
    return _over(observed - chance, 1 - chance)


def matthews(table: Marginals) -> FloatArray:
    """Return the correlation of ground truth and prediction; NaN if either has only one class.

    >>> round(float(matthews(marginals([[20, 5], [10, 15]]))), 3)
    0.408
    """
    total = table.truth.sum(axis=-1)
    covariance = table.hits.sum(axis=-1) * total - (table.truth * table.predicted).sum(axis=-1)
    spread = (total**2 - (table.predicted**2).sum(axis=-1)) * (total**2 - (table.truth**2).sum(axis=-1))
    return _over(covariance, np.sqrt(np.clip(spread, 0, None)))


def macro_precision(table: Marginals) -> FloatArray:
    """The mean precision of the classes; a class that is never predicted enters as 0."""
    return _mean(_zero_if_undefined(table.hits, table.predicted))


def macro_recall(table: Marginals) -> FloatArray:
    """Return the mean recall of the classes; a class without ground truths enters as 0."""
    return _mean(_zero_if_undefined(table.hits, table.truth))


def macro_f1(table: Marginals) -> FloatArray:
    """The mean F1 of the classes; a class that never occurs enters as 0."""
    return _mean(_class_f1(table))


def weighted_f1(table: Marginals) -> FloatArray:
    """Return the mean F1 of the classes, weighted by their frequency in the ground truth."""
    return np.asarray((_class_f1(table) * table.truth).sum(axis=-1) / table.truth.sum(axis=-1))


def class_precision(code: int) -> Statistic:
    """The precision of one class; NaN where it is never predicted."""
    return lambda table: _over(table.hits[..., code], table.predicted[..., code])


def class_recall(code: int) -> Statistic:
    """Return the recall of one class; NaN if it is never the ground truth."""
    return lambda table: _over(table.hits[..., code], table.truth[..., code])


def class_f1(code: int) -> Statistic:
    """The F1 of one class, which is 2J / (1 + J) of J = TP / (TP + FP + FN); NaN where the class never occurs."""
    return lambda table: _over(2 * table.hits[..., code], table.truth[..., code] + table.predicted[..., code])


def _mean(by_class: FloatArray) -> FloatArray:
    return np.asarray(by_class.mean(axis=-1))


def _class_f1(table: Marginals) -> FloatArray:
    return _zero_if_undefined(2 * table.hits, table.truth + table.predicted)


def _zero_if_undefined(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _over(top: FloatArray, bottom: FloatArray) -> FloatArray:
    top, bottom = np.asarray(top), np.asarray(bottom)
    # Counts are exact, so a denominator of rounding size is a zero.
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 1e-12)
