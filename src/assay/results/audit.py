"""The results of an audit of judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from assay.results.display import render
from assay.stats.audit import Finding
from assay.stats.noise import Noise

ProbeName = Literal["position", "noise", "verbosity", "injection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The result of one probe of one judge; `finding` is None, with the reason, if there is none.

    `left_out` pairs of answers lack one of the two: a failed call, or a score that could not be had.
    """

    finding: Finding | None
    left_out: int = 0
    note: str | None = None
    noise: Noise | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """The calls and cost of an audit (low, expected, high) before anything is spent; None if a price is unknown."""

    n_items: int
    calls: int
    cached: int
    cost_usd: tuple[Decimal, Decimal, Decimal] | None

    @property
    def is_free(self) -> bool:
        """Return whether nothing is left to pay."""
        return self.calls == 0 or (self.cost_usd is not None and self.cost_usd[2] == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The findings about every judge, by its id and the name of the probe; `failed`: no judge could be asked."""

    target: str
    n_items: int
    judges: Mapping[str, Mapping[ProbeName, Probe]]
    plan: AuditPlan
    runs: Mapping[str, str] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    status: Literal["completed", "partial", "failed"] = "completed"
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Did a judge fail a probe?"""
        return any(
            probe.finding is not None and probe.finding.verdict == "FAIL"
            for probes in self.judges.values()
            for probe in probes.values()
        )

    def to_dict(self) -> dict[str, Any]:
        """The findings as `assay audit --json` prints them."""
        document: dict[str, Any] = render(self, "json")
        return document
