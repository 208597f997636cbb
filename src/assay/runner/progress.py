"""The progress of a run, for listeners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run; `done` counts only committed work, `resumed` that of earlier processes."""

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
    """Ignore progress reports."""
