"""The summary of one run: its metrics, failures and costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from assay.types import MetricResult, Purpose, Spending, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReport:
    """A metric of a finished run under the name it has in the file."""

    key: str
    type: str
    result: MetricResult
    display_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerReport:
    """What a scorer found over all samples of a run."""

    key: str
    type: str
    purpose: Purpose
    n_scored: int
    n_failed: int
    n_excluded: int
    metrics: tuple[MetricReport, ...]
    display_name: str | None = None
    detail: Mapping[str, Any] | None = None

    @property
    def n_invalid(self) -> int:
        """How many multiple-choice replies name none of the choices; they are scored, and wrong."""
        return int(((self.detail or {}).get("invalid") or {}).get("n", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run and its numbers; `excluded` counts the samples that each action took out of the metrics.

    `n_cut` counts the answers that ended at the limit of their length. Where a postprocessor makes several rows of a
    sample, `n_samples` counts the rows, and `n_sources` the samples that they come from.
    """

    run: str
    status: str
    task: str
    model: str | None
    n_samples: int
    n_failed: int
    n_cached: int
    scorers: tuple[ScorerReport, ...]
    failures: Mapping[str, int]
    spending: tuple[Spending, ...] = ()
    trials: int = 1
    display_name: str | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    n_cut: int = 0
    n_sources: int | None = None

    @property
    def usage(self) -> Usage:
        """All tokens that the run was billed for."""
        return sum((spent.usage for spent in self.spending), Usage())

    @property
    def cost_usd(self) -> Decimal | None:
        """All that the run cost; None when a price was unknown."""
        costs = [spent.cost_usd for spent in self.spending]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))
