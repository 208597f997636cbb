"""Choose samples for people to label, with known probabilities, and test whether labels look randomly drawn.

Särndal, C.-E., Swensson, B. and Wretman, J. (1992), Model Assisted Survey Sampling, chapter 3: systematic sampling with
chances in proportion to size.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import FloatArray

LEAST_SHARE = 0.2
"""No sample is drawn with less than this share of an even chance: a label of it would weigh too much."""


def origin_chance(labelled: npt.ArrayLike, rest: npt.ArrayLike) -> float:
    """Return the p-value of the difference between the judge's means on labelled and other samples.

    Welch's test; a small chance says that somebody chose what to label.

    >>> origin_chance([1.0, 0.0] * 20, [1.0, 0.0] * 100) > 0.9
    True
    """
    from scipy.special import stdtr

    sides = [np.asarray(side, dtype=np.float64) for side in (labelled, rest)]
    if any(len(side) < 2 for side in sides):
        return 1.0
    errors = [float(side.var(ddof=1)) / len(side) for side in sides]
    gap = abs(float(sides[0].mean() - sides[1].mean()))
    if sum(errors) == 0:
        return 1.0 if gap == 0 else 0.0
    freedom = sum(errors) ** 2 / sum(e**2 / (len(s) - 1) for e, s in zip(errors, sides, strict=True))
    return 2 * float(stdtr(freedom, -gap / math.sqrt(sum(errors))))


def chances_to_label(doubt: npt.ArrayLike, n: int) -> FloatArray:
    """Chances that add up to n labels: doubtful samples more often, none with less than a fifth of an even chance.

    >>> chances_to_label([0.0, 0.0, 1.0, 1.0], 1).round(2).tolist()
    [0.05, 0.05, 0.45, 0.45]
    """
    size = np.asarray(doubt, dtype=np.float64)
    if n >= len(size):
        return np.ones_like(size)
    total = float(size.sum())
    share = size / total if total > 0 else np.full(len(size), 1 / len(size))
    chances = n * (LEAST_SHARE / len(size) + (1 - LEAST_SHARE) * share)
    for _ in range(len(size)):
        over = chances >= 1
        free = ~over
        left = n - int(over.sum())
        scaled = np.where(over, 1.0, chances * left / chances[free].sum())
        if bool((scaled <= 1).all()):
            return scaled
        chances = scaled
    return chances


def drawn(chances: npt.ArrayLike, *, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw positions with the given probabilities: systematic sampling in random order.

    >>> drawn([0.5, 0.5, 1.0], rng=np.random.default_rng(1)).size
    2
    """
    probabilities = np.asarray(chances, dtype=np.float64)
    order = rng.permutation(len(probabilities))
    ends = np.cumsum(probabilities[order])
    n = round(float(ends[-1]))
    ends[-1] = n
    ticks = np.arange(n) + rng.random()
    return np.sort(order[np.searchsorted(ends, ticks, side="right")])
