"""A judge's mean corrected by human labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.results.display import render
from assay.stats.calibration import Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One metric of a run, corrected by labels; `criterion` is None for the run's own metric."""

    run: str
    address: str
    criterion: str | None
    found: Calibrated
    origin_p: float | None
    warnings: tuple[str, ...] = ()
    points: tuple[tuple[float, float, int], ...] = ()
    """The judge's mean, the mean of the labels, and their number, for groups of like scores of the judge."""

    def to_dict(self) -> dict[str, Any]:
        """The object that `assay calibrate --json` prints for it."""
        document: dict[str, Any] = render(self, "json")
        return document
