"""The context of a metric beside its table: the level of its intervals, and its random numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from assay.stats.random import generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The run's seed, the metric's address (`scorer/metric`), and the level of the intervals."""

    seed: int
    address: str
    level: float = 0.95

    def random(self, name: str) -> np.random.Generator:
        """Return the random numbers of the value `name`."""
        return generator(self.seed, f"{self.address}/{name}")

    def group(self, name: str) -> Self:
        """The context of the same metric for one group."""
        return replace(self, address=f"{self.address}[{name}]")
