"""The sample size that a comparison needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.results.display import render


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One design for comparing two runs and its requirements; `solved` names the quantity that was computed."""

    paired: bool
    assumption: str
    n: int | None
    effect: float | None
    power: float
    solved: str
    in_points: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerPlan:
    """The designs that were planned, at one level."""

    planned: tuple[Planned, ...]
    level: float
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The object that `assay power --json` prints."""
        document: dict[str, Any] = render(self, "json")
        return document
