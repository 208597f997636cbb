"""Cohen's kappa of two raters over the whole declared scale, plain or weighted by the options' values.

Cohen, J. (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20.
Cohen, J. (1968), Weighted kappa, Psychological Bulletin 70.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.stats.additive_stats import Additive, bootstrapped, table_sums, too_many
from assay.stats.bayes import pseudo_amount, pseudo_pairs, sum_by
from assay.stats.classification import Pairs, kappa
from assay.stats.clusters import FloatArray
from assay.types import MetricValue

Weighting = Literal["none", "linear", "quadratic"]


def distances(values: npt.ArrayLike, weighting: Weighting = "none") -> FloatArray:
    """Return the distance between options: 0 or 1, or by value |vi - vj| or (vi - vj)^2, scaled to a maximum of 1.

    >>> distances([0, 0.5, 1], "quadratic").tolist()
    [[0.0, 0.25, 1.0], [0.25, 0.0, 0.25], [1.0, 0.25, 0.0]]
    """
    value = np.asarray(values, dtype=np.float64)
    if weighting == "none":
        return 1.0 - np.eye(len(value))
    distance = np.abs(value[:, None] - value[None, :])
    largest = distance.max(initial=0.0)
    distance = distance / largest if largest > 0 else distance
    return distance if weighting == "linear" else distance**2


def cohens_kappa(
    pairs: Pairs,
    values: npt.ArrayLike | None = None,
    weighting: Weighting = "none",
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> MetricValue:
    """Agreement of two raters beyond chance; 1 is perfect, 0 is chance. `values` are the options' values.

    Every declared option counts as one of the K options, also one that nobody chose. Undefined where both
    raters stay on one option, and, weighted, where all options have one value.

    >>> truth, judge = (np.array([int(c) for c in text]) for text in ("0033440343", "0334430340"))
    >>> kappa = cohens_kappa(Pairs(truth, judge, 5), [0, 0.1, 0.5, 0.9, 1], "quadratic", rng=np.random.default_rng(1))
    >>> round(kappa.value, 4)
    0.5648
    """
    return bootstrapped(kappa_sums(pairs, values, weighting), rng=rng, level=level)


def kappa_sums(pairs: Pairs, values: npt.ArrayLike | None = None, weighting: Weighting = "none") -> Additive:
    """Cohen's kappa as sums over pairs, for `macro`."""
    if weighting == "none":
        return table_sums(pairs, kappa)
    if values is None or len(np.asarray(values)) != pairs.classes:
        raise ValueError("a weighted kappa needs the value of every declared option")
    classes, distance, one = pairs.classes, distances(values, weighting), np.eye(pairs.classes)

    def value(sums: FloatArray) -> FloatArray:
        seen, truth, judge = sums[..., 0], sums[..., 1 : 1 + classes], sums[..., 1 + classes :]
        total = truth.sum(axis=-1)
        chance = ((truth @ distance) * judge).sum(axis=-1) / total**2
        lost = np.divide(seen / total, chance, out=np.full_like(seen, np.nan), where=chance > 1e-12)
        return np.asarray(1 - lost)

    def pseudo(draws: int, rng: np.random.Generator) -> FloatArray:
        row, column, pieces = pseudo_pairs(draws, classes, pseudo_amount(classes), rng)
        seen = (pieces * distance[row, column]).sum(axis=1)
        return np.column_stack([seen, sum_by(row, pieces, classes), sum_by(column, pieces, classes)])

    return Additive(
        rows=np.column_stack([distance[pairs.truth, pairs.predicted], one[pairs.truth], one[pairs.predicted]]),
        value=value,
        pseudo=pseudo,
        clusters=pairs.clusters,
        counts=pairs.counts,
        undefined="only one class occurs" if distance.any() else "all options have the same value",
        unbounded=too_many(classes) if distance.any() else None,
    )
