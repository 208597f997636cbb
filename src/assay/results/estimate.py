"""The expected calls and cost of a run, before anything is paid."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from assay.types import CallPurpose


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRange:
    """An estimate of tokens with lower and upper bounds."""

    low: float
    expected: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEstimate:
    """The expected calls to one model for one purpose; money is None if the price is unknown."""

    model: str
    purpose: CallPurpose
    calls: int
    cached: int
    tokens_in: TokenRange
    tokens_out: TokenRange
    cost_usd: tuple[Decimal, Decimal, Decimal] | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPrecision:
    """The expected precision for a number of samples:

    `half_width` of a share at worst, and the detectable `difference`.

    The difference is found four times out of five, if the share `flips` of the samples changes; None when there are
    too few samples to find any.
    """

    n_samples: int
    half_width: float
    difference: float | None
    flips: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A run before it starts: cells done and left, the calls of each model, and what its metrics can show.

    `reused_from` names the earlier runs whose answers or replies would be used, the newest first; `notes` say which
    counts are bounds.
    """

    task: str
    n_cells: int
    n_done: int
    models: tuple[ModelEstimate, ...]
    stale: tuple[str, ...]
    reused_from: tuple[str, ...] = ()
    precision: ExpectedPrecision | None = None
    notes: tuple[str, ...] = ()

    @property
    def cost_usd(self) -> tuple[Decimal, Decimal, Decimal] | None:
        """Low, expected and high; None where any price is unknown."""
        costs = [model.cost_usd for model in self.models]
        if any(cost is None for cost in costs):
            return None
        return tuple(sum((c[i] for c in costs if c is not None), Decimal(0)) for i in range(3))  # type: ignore[return-value]
