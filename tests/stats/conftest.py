"""Shared by the tests of statistics: a textbook example, and patience with slow machines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


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
