"""One judge of a panel."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.types import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One judge of a panel: who it is, which model answers for it, and how much its vote weighs.

    `replica` counts the judges before it that are the same model asked in the same way: where a model answers at
    random, each of them is asked, and none repeats the other.
    """

    id: str
    model: str
    weight: float = 1.0
    sampling: Sampling = field(default_factory=Sampling)
    replica: int = 0
