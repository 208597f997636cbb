"""Shared by the coverage studies: the one check that every kind of interval must pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

Check = Callable[[Sequence[float], int], bool]


@pytest.fixture(scope="session")
def covers_as_claimed() -> Check:
    """Whether 95 % intervals cover at least 91 % in each cell and 93.5 to 96.5 % on average.

    Below 4,000 runs a cell, three standard errors are added on each side.
    """

    def check(coverages: Sequence[float], runs: int) -> bool:
        error = 0.0 if runs >= 4_000 else 3 * math.sqrt(0.95 * 0.05 / runs)
        mean = sum(coverages) / len(coverages)
        shared = error / math.sqrt(len(coverages))
        return min(coverages) >= 0.91 - error and 0.935 - shared <= mean <= 0.965 + shared

    return check


@pytest.fixture(scope="session")
def covers_at_least() -> Callable[[Sequence[float], int], bool]:
    """Whether 95 % intervals cover at least 93 % in each cell, with a tolerance of .01; they may cover more.

    Below 4,000 runs a cell, three standard errors are added.
    """

    def check(coverages: Sequence[float], runs: int) -> bool:
        return min(coverages) >= 0.92 - (0.0 if runs >= 4_000 else 3 * math.sqrt(0.93 * 0.07 / runs))

    return check


@pytest.fixture(scope="session")
def textbook() -> np.ndarray:
    """Krippendorff's example of four raters and twelve items, with gaps; one row an item."""
    n = np.nan
    raters = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    return np.array(raters).T
