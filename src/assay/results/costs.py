"""The cost of runs: one by one, by model, and in total."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from assay.types import CallPurpose, Spending


def merged(spending: Iterable[Spending]) -> tuple[Spending, ...]:
    """Spending added up by model and purpose, in the order of the first of each."""
    totals: dict[tuple[str, CallPurpose], Spending] = {}
    for spent in spending:
        key = spent.model, spent.purpose
        totals[key] = totals[key] + spent if key in totals else spent
    return tuple(totals.values())


def known_cost(spending: Iterable[Spending]) -> tuple[Decimal, int]:
    """The cost of the calls whose price is known, and how many calls have no price."""
    spent = list(spending)
    cost = sum((entry.cost_usd for entry in spent if entry.cost_usd is not None), Decimal(0))
    return cost, sum(entry.n_calls for entry in spent if entry.cost_usd is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """The spending of one run; a run that reused all its answers spent nothing."""

    run: str
    name: str | None
    kind: str
    task: str
    started_at: str
    spending: tuple[Spending, ...]

    @property
    def n_calls(self) -> int:
        """Return the number of calls that the run paid for."""
        return sum(spent.n_calls for spent in self.spending)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The spending of all runs since a moment, newest first; runs without spending are left out."""

    since: str | None
    runs: tuple[RunCost, ...]

    @property
    def spending(self) -> tuple[Spending, ...]:
        """Return the spending of all runs by model and purpose; a cost is None if one of its prices is unknown."""
        return merged(spent for run in self.runs for spent in run.spending)
