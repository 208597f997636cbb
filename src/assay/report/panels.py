"""What a panel is worth, as values and as JSON holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.report.document import value_document
from assay.stats.noise import Noise
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundant:
    """Two criteria that order the items almost alike: one of them tells little that the other does not."""

    first: str
    second: str
    spearman: MetricValue

    def document(self) -> dict[str, Any]:
        """The pair as JSON holds it."""
        return {"first": self.first, "second": self.second, "spearman": value_document(self.spearman)}


def noise_document(found: Noise) -> dict[str, Any]:
    """The noise floor as JSON holds it, and the smallest difference of two means that is more than luck."""
    return {"noise_floor": value_document(found.floor), "difference_by_luck": value_document(found.difference)}
