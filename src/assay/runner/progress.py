"""How far a run is, for whoever wants to watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; `done` counts only what is committed, `resumed` what an earlier process had done."""

    done: int
    failed: int
    resumed: int = 0
    total: int | None = None
    cached: int = 0
    in_flight: int | None = None
    cost_usd: Decimal | None = None
    waiting: str = ""


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report progress to nobody."""
