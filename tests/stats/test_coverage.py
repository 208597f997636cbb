"""Do 95 % intervals cover 95 %? The short form of `make coverage-study`: a few cells of each family, few runs.

The tolerances grow with the noise of few runs. The negative controls are recipes in common use; the same bounds must
refuse them.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from bench.coverage import __main__ as study
from bench.coverage.measure import SEED, Bound, Draw, Family, simulated

from assay.stats import bayes
from assay.stats.paired import mcnemar, paired

# By family: the cells that are measured here, by position, and how many runs they get.
SHORT = {
    "means": (range(0, 63, 6), 150),
    "exact": ([8, 25], 0),
    "clusters": ([0, 2], 100),
    "random": (range(0, 100, 10), 150),
    "trials": (range(0, 24, 5), 150),
    "macro": (range(9), 200),
    "macro_unbounded": (range(3), 200),
    "macro_nulls": (range(5), 60),
    "macro_power": ([0], 60),
    "nulls": ([2, 14], 150),
    "untied": ([0, 4, 8], 300),
    "ten_untied": ([1], 100),
    "share_dips": (range(5), 0),
    "power_uniform": ([0], 150),
    "power_small": ([0], 150),
    "widths": ([0, 2], 100),
    "plain": (range(9), 200),
    "metric_differences": ([0, 4, 8], 30),
    "metric_nulls": ([1, 4], 30),
    "grid": (range(0, 256, 25), 150),
    "judges": (range(7), 150),
    "documents": ([0, 1], 100),
    "rogan_gladen": (range(0, 72, 9), 300),
    "recall": (range(0, 60, 7), 0),
    "share_means": (range(12), 0),
    "f1": (range(4), 300),
    "hits": (range(4), 300),
    "tables": ([0, 2, 5], 60),
    "agreement": (range(0, 10, 2), 60),
    "unbounded": ([0, 2], 60),
    "correlations": (range(9), 300),
    "intraclass": (range(6), 200),
    "errors": (range(9), 150),
}


def short_form(name: str) -> Family:
    family = study.family_of(name)
    return dataclasses.replace(family, cells=[family.cells[position] for position in SHORT[name][0]])


@pytest.mark.parametrize("name", SHORT)
def test_a_few_cells_of_each_family_keep_its_bounds(name, monkeypatch, capsys):
    monkeypatch.setattr(bayes, "DRAWS", 999)
    family, runs = short_form(name), SHORT[name][1]
    measured = (cell.measure(runs, SEED + position) for position, cell in enumerate(family.cells))
    assert study.report(family, measured, max(runs, 1)) == 0, capsys.readouterr().out


def test_every_family_of_the_study_has_a_short_form():
    assert set(study.FAMILIES) - set(SHORT) == {"shares", "controls"}, "these two have tests of their own"


def test_recipes_in_common_use_break_the_same_bounds(monkeypatch, capsys):
    monkeypatch.setattr(bayes, "DRAWS", 999)
    family = study.family_of("controls")
    measured = [cell.measure(200, SEED) for cell in family.cells]
    assert max(values.now for values in measured) < 0.9
    assert study.report(family, measured, 200) == 0
    honest = dataclasses.replace(family, bound=dataclasses.replace(family.bound, control=False))
    assert study.report(honest, measured, 200) == len(family.cells) - 1, "200 runs cannot tell 87 % from 91 %"
    assert "BROKEN" in capsys.readouterr().out


def test_without_the_guard_the_bounds_of_means_and_verdicts_are_broken():
    means, nulls = study.family_of("means"), study.family_of("nulls")
    cell = next(cell for cell in means.cells if cell.name.startswith("98") and cell.n == 100)
    measured = cell.measure(400, SEED)
    assert means.bound.kept(measured)
    assert not means.bound.kept(dataclasses.replace(measured, now=measured.before))
    cell = next(cell for cell in nulls.cells if cell.name.startswith("10 % up") and cell.n == 100)
    measured = cell.measure(0, SEED)
    assert nulls.bound.kept(measured)
    assert not nulls.bound.kept(dataclasses.replace(measured, clear=measured.clear_before))


@pytest.mark.parametrize(("n", "least"), [(10, 0.913), (15, 0.914), (20, 0.924), (25, 0.911), (50, 0.921)])
def test_shares_of_a_few_small_sizes_dip_below_the_bound(n, least):
    """Wilson's interval dips where p meets the last outcome it leaves out (n=25 at p=.98); the mean holds."""
    family = study.family_of("share_dips")
    measured = next(cell for cell in family.cells if cell.n == n).measure(0, SEED)
    assert least <= measured.now < 0.925
    assert not study.family_of("shares").bound.kept(measured)


@pytest.mark.parametrize("n", [30, 40, 75, 100, 200, 300, 1_000])
def test_shares_of_other_sizes_keep_the_bound_at_every_share(n):
    family = study.family_of("shares")
    assert family.bound.kept(next(cell for cell in family.cells if cell.n == n).measure(0, SEED))


def coin(truth: float) -> Family:
    """Intervals of fixed width, whose coverage is known: U(0, 1) falls within .475 of the middle in 95 %."""

    def source(rng: np.random.Generator) -> Draw:
        centre = truth + rng.uniform(-0.5, 0.5)
        return Draw((centre - 0.475, centre + 0.475), None, truth)

    return Family("fixed width", [simulated("95 %", 7, source)], Bound(least=0.93))


def test_the_study_is_one_markdown_table_and_a_broken_bound_sets_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(study, "FAMILIES", {"good": lambda: coin(0.3), "bad": lambda: bad})
    bad = dataclasses.replace(coin(0.3), bound=Bound(least=0.97))
    study.family_of.cache_clear()
    assert study.main(["good", "--processes", "1"]) == 0
    header, dashes, row, _, total = capsys.readouterr().out.splitlines()
    assert header.count("|") == dashes.count("|") == row.count("|")
    cells = [text.strip() for text in row.split("|")[1:-1]]
    assert cells[:4] == ["fixed width", "95 %", "7", "4,000"]
    assert float(cells[4]) == pytest.approx(0.95, abs=0.011)
    assert cells[-2:] == ["covers >= 0.93", "pass"]
    assert total.startswith("1 cells in 0 minutes; broken bounds: 0")
    assert study.main(["good", "bad", "--processes", "1"]) == 1
    assert "BROKEN" in capsys.readouterr().out
    study.family_of.cache_clear()


def test_an_unknown_family_is_named(capsys):
    with pytest.raises(SystemExit):
        study.main(["mean"])
    assert "unknown family: mean; choose from means, exact" in capsys.readouterr().err


def flipped_at_random(rng: np.random.Generator) -> float | None:
    wins, losses, _ = rng.multinomial(200, [0.075, 0.075, 0.85])
    return mcnemar(int(wins), int(losses))


def graded_at_random(rng: np.random.Generator) -> float | None:
    before = rng.choice([0.0, 0.5, 1.0], size=40)
    return paired(before, before[rng.permutation(40)], rng=rng).p


def clustered_at_random(rng: np.random.Generator) -> float | None:
    ids = np.repeat(np.arange(15), 8)
    gap = np.repeat(rng.normal(0, 0.1, 15), 8) + rng.normal(0, 0.1, 120)
    return paired(np.zeros(120), gap, ids, rng=rng).p


@pytest.mark.parametrize("p_value", [flipped_at_random, graded_at_random, clustered_at_random])
def test_p_values_below_five_per_cent_come_in_five_per_cent(p_value):
    rng, runs = np.random.default_rng(5), 400
    alarms = np.mean([(p := p_value(rng)) is not None and p < 0.05 for _ in range(runs)])
    assert alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
