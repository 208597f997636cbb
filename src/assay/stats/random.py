"""Random numbers that depend only on the run's seed and the address of the value."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, address: str) -> np.random.Generator:
    """Return the generator for one value: the same seed and address always give the same interval.

    >>> generator(1, "judge/mean/score_mean").integers(0, 100, 3).tolist() == (
    ...     generator(1, "judge/mean/score_mean").integers(0, 100, 3).tolist())
    True
    """
    entropy = np.random.SeedSequence([seed, zlib.crc32(address.encode())])
    return np.random.Generator(np.random.PCG64(entropy))
