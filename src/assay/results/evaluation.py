"""The result of an evaluation: its specifications with their runs, their variation, and the policy verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from assay.results.costs import known_cost, merged
from assay.results.rules import FailureRule
from assay.results.run import RunReport, SampleCounts
from assay.types import MetricValue, Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVerdict:
    """The verdict on one rule of a policy, with its reason; `counts` are the samples of all values in its scope."""

    key: str
    rule: str
    passed: bool
    reason: str
    counts: SampleCounts = field(default_factory=lambda: SampleCounts(n=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The variation of a value over repeated runs; undefined values are left out, and `n` counts the others."""

    mean: float | None
    std_dev: float | None
    min: float | None
    max: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatability:
    """The same specification run several times: the spread of each value, and the share of samples scored alike."""

    runs: tuple[str, ...]
    values: Mapping[str, Spread]
    agreement: Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationReport:
    """The result of one specification of an evaluation: its run, or the reason why there is none.

    One that `repeats` another shows that one's run, and how it varies. `spending` is that of all its own runs, repeats
    included; `spending_of_all_runs` adds the run that it repeats, which is counted there already.
    """

    key: str
    task: str
    model: str | None = None
    report: RunReport | None = None
    error: str | None = None
    policies: tuple[PolicyVerdict, ...] = ()
    repeatability: Repeatability | None = None
    repeats: str | None = None
    spending: tuple[Spending, ...] = ()
    spending_of_all_runs: tuple[Spending, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRunReport:
    """All specifications of an evaluation, with the verdicts of its policies."""

    key: str
    display_name: str
    specifications: tuple[SpecificationReport, ...]
    policies: tuple[PolicyVerdict, ...] = ()
    failures: FailureRule = field(default_factory=FailureRule)

    @property
    def spending(self) -> tuple[Spending, ...]:
        """Return the spending of all runs of the evaluation, repeats included, by model and purpose."""
        return merged(spent for specification in self.specifications for spent in specification.spending)

    @property
    def cost_usd(self) -> Decimal | None:
        """Return the total cost of the evaluation; None if a price was unknown."""
        cost, unpriced = known_cost(self.spending)
        return None if unpriced else cost
