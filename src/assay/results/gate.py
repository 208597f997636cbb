"""A run checked against thresholds and a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.results.comparison import Compared
from assay.results.display import render
from assay.results.rules import FailureRule
from assay.results.run import RunReport, SampleCounts
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule and its outcome; `address` is the value that it checked, `counts` are its samples.

    A rule about a drop has the comparison with the baseline behind it, and the samples of the baseline.
    """

    rule: str
    address: str
    passed: bool
    reason: str
    value: MetricValue
    drop: Compared | None = None
    counts: SampleCounts = field(default_factory=lambda: SampleCounts(n=0))
    baseline_counts: SampleCounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """All rules of a gate over one run; it passes when all of them do."""

    report: RunReport
    checks: tuple[Check, ...]
    on: str = "point"
    baseline: str | None = None
    failures: FailureRule = field(default_factory=FailureRule)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether all rules hold."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> Sequence[Check]:
        """The rules that do not."""
        return [check for check in self.checks if not check.passed]

    def to_dict(self) -> dict[str, Any]:
        """The object that `assay gate --json` prints."""
        document: dict[str, Any] = render(self, "json")
        return document
