"""Cells of the study, what they come to, and the bounds that they must keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.types import Interval

RUNS = 4_000
SEED = 20_270_119
COVERED = 0.93
Ends = tuple[float, float]


@dataclass(frozen=True)
class Draw:
    """One data set: its interval, the one of version 0.1, and the truth; a comparison also has its verdicts.

    `counts_for_width` is false where the limit of width does not apply.
    """

    now: Ends
    before: Ends | None
    truth: float
    clear: bool = False
    clear_before: bool = False
    counts_for_width: bool = True


@dataclass(frozen=True)
class Measured:
    """What a cell came to. `width` is the median ratio of the widths, `mean_width` the ratio of their means."""

    runs: int
    now: float
    before: float | None
    width: float | None = None
    mean_width: float | None = None
    clear: float | None = None
    clear_before: float | None = None


Weighted = Iterable[tuple[float, Draw]]
Source = Callable[[np.random.Generator], Draw | None]


@dataclass(frozen=True)
class Cell:
    """A truth that data sets are drawn from; `measure` takes the number of runs and a seed."""

    name: str
    n: int
    measure: Callable[[int, int], Measured]


@dataclass(frozen=True)
class Bound:
    """What every cell of a family must keep; None where there is no such bound.

    `mean` is for the mean coverage of the family. `widest` limits the ratio of the mean widths. A control must break
    its bound, or the check proves nothing. `shows_clear` prints the verdicts of a family without a bound.
    """

    least: float | None = None
    widest: float | None = None
    most_clear: float | None = None
    least_clear: float | None = None
    mean: tuple[float, float] | None = None
    control: bool = False
    shows_clear: bool = False

    def slack(self, runs: int) -> float:
        """The tolerance: .001 of exact sums, .01 of 4,000 runs, and three standard errors more of fewer.

        Bounds of .91 and .925 include it. A control gets none: it must break the bound itself.
        """
        if self.control:
            return 0.0
        if not runs:
            return 0.001 if self.least == COVERED or self.least is None else 0.0
        usual = 0.01 if self.least == COVERED or self.least is None else 0.0
        return usual if runs >= RUNS else usual + 3 * math.sqrt(0.07 * 0.93 / runs)

    def kept(self, measured: Measured) -> bool:
        """Whether the cell keeps the bound."""
        slack = self.slack(measured.runs)
        holds = [self.least is None or measured.now >= self.least - slack]
        # The limit holds where the interval of version 0.1 covered; elsewhere coverage goes first.
        if self.widest is not None and measured.mean_width is not None and (measured.before or 0.0) >= COVERED:
            holds.append(measured.mean_width <= self.widest)
        if measured.clear is not None:
            few = 0.0 if not measured.runs or measured.runs >= RUNS else 3 * math.sqrt(0.25 / measured.runs)
            holds.append(self.most_clear is None or measured.clear <= self.most_clear + few)
            holds.append(self.least_clear is None or measured.clear >= self.least_clear - few)
        return all(holds)

    def __str__(self) -> str:
        parts = [
            "" if self.least is None else f"covers >= {self.least:g}",
            "" if self.widest is None else f"width <= {self.widest:g}",
            "" if self.most_clear is None else f"clear <= {self.most_clear:g}",
            "" if self.least_clear is None else f"clear >= {self.least_clear:g}",
        ]
        return ("must break: " if self.control else "") + ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Family:
    """Cells with one bound; `runs` is lower than usual where a data set is expensive."""

    name: str
    cells: Sequence[Cell]
    bound: Bound
    runs: int = RUNS


def ends(interval: Interval | None) -> Ends | None:
    """The bounds of an interval that has both."""
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high


def both(interval: Interval | None, before: Interval | None, truth: float) -> Draw | None:
    """A draw of the interval now and before; None where there is none now."""
    now = ends(interval)
    return None if now is None else Draw(now, ends(before), truth)


def simulated(name: str, n: int, source: Source) -> Cell:
    """A cell that is measured by drawing data sets; those without an interval are left out."""

    def measure(runs: int, seed: int) -> Measured:
        rng = np.random.default_rng(seed)
        drawn = [draw for _ in range(runs) if (draw := source(rng)) is not None]
        return summary([(1.0, draw) for draw in drawn], runs=runs)

    return Cell(name, n, measure)


def exact(name: str, n: int, outcomes: Callable[[], Weighted]) -> Cell:
    """A cell that is measured by summing over all outcomes, each with its chance."""
    return Cell(name, n, lambda _runs, _seed: summary(list(outcomes()), runs=0))


def summary(draws: Sequence[tuple[float, Draw]], *, runs: int) -> Measured:
    """Coverages, widths and verdicts over draws with weights."""
    weights = np.array([weight for weight, _ in draws])
    held = np.array([_holds(draw.now, draw.truth) for _, draw in draws])
    compared = [(weight, draw, draw.before) for weight, draw in draws if draw.before is not None]
    before = None
    if compared:
        total = sum(weight for weight, _, _ in compared)
        before = sum(weight for weight, draw, old in compared if _holds(old, draw.truth)) / total
    wide = [(w, d.now[1] - d.now[0], old[1] - old[0]) for w, d, old in compared if d.counts_for_width]
    width, mean_width = _widths(np.array(wide)) if wide else (None, None)
    clear_before = None
    if compared:
        clear_before = float(weights @ [draw.clear_before for _, draw in draws] / weights.sum())
    return Measured(
        runs=runs,
        now=float(weights @ held / weights.sum()),
        before=before,
        width=width,
        mean_width=mean_width,
        clear=float(weights @ [draw.clear for _, draw in draws] / weights.sum()),
        clear_before=clear_before,
    )


def _holds(bounds: Ends, truth: float) -> bool:
    return bounds[0] - 1e-12 <= truth <= bounds[1] + 1e-12


def _widths(table: np.ndarray) -> tuple[float, float]:
    weights, now, before = table.T
    ratios = now / np.maximum(before, 1e-12)
    order = np.argsort(ratios)
    middle = int(np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2))
    return float(ratios[order][middle]), float((weights @ now) / (weights @ before))
