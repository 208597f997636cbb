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
    """The results of a scorer over all samples of a run."""

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
    def n_invalid(self) -> int | None:
        """Return the number of INVALID replies; None for scorers that do not count them."""
        return invalid_count(self.detail)


def invalid_count(detail: Mapping[str, Any] | None) -> int | None:
    """Return the number of INVALID replies in a scorer's detail; None if it does not count them.

    >>> invalid_count({"invalid": {"n": 3}}), invalid_count({}), invalid_count(None)
    (3, None, None)
    """
    counts = (detail or {}).get("invalid")
    return counts.get("n") if isinstance(counts, Mapping) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCounts:
    """The samples behind one value: `n` entered it, `failed` and `excluded` did not, `total` is all of them.

    Of a run with trials, `failed` and `total` count answers. `invalid` replies have entered the value as wrong; None
    where the scorer does not count them.
    """

    n: int
    failed: int = 0
    excluded: int = 0
    invalid: int | None = None
    total: int = 0

    @property
    def failed_share(self) -> float:
        """The share of all samples that failed."""
        return self.failed / self.total if self.total else 0.0

    def __str__(self) -> str:
        parts = [f"n {self.n:,}", f"failed {self.failed:,}", f"excluded {self.excluded:,}"]
        return ", ".join(parts if self.invalid is None else [*parts, f"INVALID {self.invalid:,}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run and its metrics; `excluded` counts the samples that each action removed from the metrics.

    `n_cut` counts the answers that ended at the limit of their length; `first_failure` says why the first sample that
    failed did so. `reused_from` names the earlier runs whose answers or replies are used, the newest first. Where a
    postprocessor makes several rows of a sample, `n_samples` counts the rows, and `n_sources` the samples that they
    come from.
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
    first_failure: str | None = None
    reused_from: tuple[str, ...] = ()

    def counts(self) -> dict[str, SampleCounts]:
        """The samples behind every value of the run, by its address, `scorer/metric/name`."""
        return {
            f"{scorer.key}/{metric.key}/{name}": SampleCounts(
                n=value.n,
                failed=scorer.n_failed,
                excluded=scorer.n_excluded + metric.result.n_excluded,
                invalid=scorer.n_invalid,
                total=self.n_samples * self.trials,
            )
            for scorer in self.scorers
            for metric in scorer.metrics
            for name, value in metric.result.values.items()
        }

    @property
    def usage(self) -> Usage:
        """All tokens that the run was billed for."""
        return sum((spent.usage for spent in self.spending), Usage())

    @property
    def cost_usd(self) -> Decimal | None:
        """Return the total cost of the run; None if a price was unknown."""
        costs = [spent.cost_usd for spent in self.spending]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))
