"""The sample size of a comparison, from assumptions or from pilot runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.analysis.calibrate import judged_run
from assay.analysis.compare import CompareOptions, compare_runs
from assay.analysis.per_sample import RunSeries, Series
from assay.errors import SpecError
from assay.results.power import Planned, PowerPlan
from assay.stats.calibration import mean_and_variance
from assay.stats.power import (
    POWER,
    Design,
    detectable,
    items_needed,
    paired_design,
    power_of,
    unpaired_mean,
    unpaired_share,
)
from assay.store.runs import RunRecord
from assay.store.store import Store

SELF_PAIRED = "the share that flips between two models is not known from one run: give a second one, or --flips"


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """Two of samples, difference and power determine the third; `flips` and `share` are assumptions about the data."""

    n: int | None = None
    effect: float | None = None
    power: float | None = None
    flips: float | None = None
    share: float | None = None
    level: float = 0.95


def plan_power(
    options: PowerOptions, store: Store | None = None, pilots: Sequence[RunRecord] = (), *, metric: str | None = None
) -> PowerPlan:
    """Plan the sample size for every design whose assumptions are known."""
    if options.n is not None and options.effect is not None and options.power is not None:
        raise SpecError("give exactly two of --n, --effect and --power")
    designs, size, notes = _designs(options, store, pilots, metric)
    if not designs:
        raise SpecError(
            "say how many samples flip (--flips 0.1), or the share that is right (--share 0.8), or a pilot run"
        )
    if options.effect is not None and options.effect > 1 and all(in_points for _, _, in_points in designs):
        hint = f"; did you mean {options.effect / 100:g}?" if options.effect <= 100 else ""
        raise SpecError(f"--effect {options.effect:g} is more than 1, the largest difference of two shares{hint}")
    if options.n is None and options.effect is None:
        if size is None:
            raise SpecError("say how many samples there are (--n 500), or the difference to find (--effect 0.02)")
        options = replace(options, n=size)
    planned = tuple(_planned(design, options, words, in_points) for design, words, in_points in designs)
    return PowerPlan(planned=planned, level=options.level, notes=tuple(notes))


_Known = tuple[Design, str, bool]


def _designs(
    options: PowerOptions, store: Store | None, pilots: Sequence[RunRecord], metric: str | None
) -> tuple[list[_Known], int | None, list[str]]:
    """The designs to plan with, the size of the pilot, and notes on it."""
    designs: list[_Known] = []
    notes: list[str] = []
    size = None
    if options.flips is not None:
        designs.append((paired_design(options.flips), f"{options.flips:.1%} flip".replace("%", " %"), True))
    if options.share is not None:
        designs.append((unpaired_share(options.share), f"{options.share:g} right", True))
    if pilots and store is not None:
        run, series = judged_run(store, pilots[0], metric)
        size = int(series.present.sum())
        if len(pilots) > 1:
            designs += _of_pairs(store, pilots, series)
        elif options.flips is None:
            notes.append(SELF_PAIRED)
        designs += _of_run(run, series)
    return designs, size, notes


def _of_pairs(store: Store, pilots: Sequence[RunRecord], series: Series) -> Iterator[_Known]:
    compared = compare_runs(store, pilots[:2], CompareOptions(metrics=(series.measure.address,))).compared[0]
    squared = compared.found.share_squared
    if not squared:
        raise SpecError(
            f"runs {pilots[0].id} and {pilots[1].id} do not differ in any sample, so they cannot serve as a pilot"
        )
    changed = f"{compared.n_changed:,} of {compared.found.n:,} changed in the pilot"
    yield replace(paired_design(squared), most=float("inf")), changed, compared.in_points


def _of_run(run: RunSeries, series: Series) -> Iterator[_Known]:
    rows = np.flatnonzero(series.present)
    values = series.numbers[rows]
    if len(values) < 2 or not values.std():
        raise SpecError(f"run {run.record.id} cannot serve as a pilot: all its values are identical")
    clusters = run.clusters(rows, series.measure.address)
    mean, error = mean_and_variance(values, np.ones_like(values), clusters)
    if clusters is None and set(np.unique(values).tolist()) <= {0.0, 1.0}:
        yield unpaired_share(mean), f"{mean:.3f} right in the pilot", True
    else:
        # what clusters cost is spread over their rows
        variance = error * len(values)
        in_points = bool(values.min() >= 0 and values.max() <= 1)
        yield unpaired_mean(variance), f"standard deviation {variance**0.5:.3g} in the pilot", in_points


def _planned(design: Design, options: PowerOptions, words: str, in_points: bool) -> Planned:
    power, level = options.power or POWER, options.level
    plan = Planned(
        paired=design.loses_square,
        assumption=words,
        n=options.n,
        effect=options.effect,
        power=power,
        solved="power",
        in_points=in_points,
    )
    if options.n is None:
        assert options.effect is not None
        n = items_needed(design, options.effect, power=power, level=level)
        reason = "there is no such difference: more than could change" if n is None else None
        return replace(plan, n=n, solved="n", reason=reason)
    if options.effect is None:
        effect = detectable(design, options.n, power=power, level=level)
        reason = f"too few samples for any difference ({words})" if effect is None else None
        return replace(plan, effect=effect, solved="effect", reason=reason)
    if abs(options.effect) > design.most:
        return replace(plan, power=0.0, reason="there is no such difference: more than could change")
    return replace(plan, power=power_of(design, options.effect, options.n, level=level))
