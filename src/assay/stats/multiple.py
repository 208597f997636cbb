"""Several comparisons at once: p-values adjusted so that noise is not taken for a finding.

Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
Benjamini, Y. and Hochberg, Y. (1995), Controlling the false discovery rate, JRSS B 57.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(chances: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that the chance of even one false finding among all stays below the level; gaps stay gaps.

    >>> holm([0.01, 0.04, None])
    [0.02, 0.04, None]
    """
    places, ordered = _ordered(chances)
    left = np.arange(len(ordered), 0, -1)
    return _back(chances, places, np.maximum.accumulate(ordered * left))


def benjamini_hochberg(chances: Sequence[float | None]) -> list[float | None]:
    """Adjusted so that the share of false findings among all findings stays below the level; for long tables.

    >>> benjamini_hochberg([0.01, 0.04, 0.5])
    [0.03, 0.06, 0.5]
    """
    places, ordered = _ordered(chances)
    scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return _back(chances, places, np.minimum.accumulate(scaled[::-1])[::-1])


def _ordered(chances: Sequence[float | None]) -> tuple[np.ndarray, np.ndarray]:
    positions = [place for place, chance in enumerate(chances) if chance is not None]
    values = np.array([chances[place] for place in positions], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    return np.array(positions, dtype=np.int64)[order], values[order]


def _back(chances: Sequence[float | None], places: np.ndarray, adjusted: np.ndarray) -> list[float | None]:
    result: list[float | None] = [None] * len(chances)
    for place, chance in zip(places.tolist(), np.minimum(adjusted, 1.0).tolist(), strict=True):
        result[place] = chance
    return result
