"""What a submission loses for its length."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.errors import SpecError


@dataclass(frozen=True, slots=True)
class LengthPenalty:
    """Nothing up to `free_budget` words, `penalty_at_cap` from `max_cap` words on, and a curve between them.

    >>> LengthPenalty(free_budget=100, max_cap=200, penalty_at_cap=0.5, exponent=1.0).of(150)
    0.25
    """

    free_budget: int = 6000
    max_cap: int = 8000
    penalty_at_cap: float = 0.5
    exponent: float = 1.6

    def __post_init__(self) -> None:
        if not 0 <= self.free_budget < self.max_cap:
            raise SpecError(
                f"a length penalty needs 0 <= free_budget < max_cap, not {self.free_budget} and {self.max_cap}"
            )
        for name in ("penalty_at_cap", "exponent"):
            number = getattr(self, name)
            if not (math.isfinite(number) and number > 0):
                raise SpecError(f"{name} must be a positive number, not {number}")

    def of(self, words: int) -> float:
        """What a text of so many words loses."""
        if words <= self.free_budget:
            return 0.0
        if words >= self.max_cap:
            return self.penalty_at_cap
        part = (words - self.free_budget) / (self.max_cap - self.free_budget)
        return float(self.penalty_at_cap * part**self.exponent)


def words_in(text: str) -> int:
    """How many words a text has: what stands between white space.

    >>> words_in("It is  Paris.\\n")
    3
    """
    return len(text.split())
