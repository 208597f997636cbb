"""Do intervals of differences and of corrected judges cover 95 %, and do false alarms stay at 5 %?

The long form (4,000 runs a cell) is `make coverage-study`; the short form runs with the other tests.
The negative controls are what is usually done; the same check must refuse them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from assay.stats.calibration import LabelledScores, calibrate
from assay.stats.label_sampling import chances_to_label, drawn
from assay.stats.paired import mcnemar, paired, tango_interval

Check = Callable[[Sequence[float], int], bool]
Bounds = tuple[float | None, float | None]
Cell = Callable[[np.random.Generator], tuple[Bounds, float]]
SHORT, LONG = 300, 4_000


def coverage(cell: Cell, runs: int, seed: int = 7) -> float:
    """The share of runs whose interval holds the truth."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(runs):
        (low, high), truth = cell(rng)
        assert low is not None
        assert high is not None
        held += low <= truth <= high
    return held / runs


@cache
def tango(wins: int, losses: int, n: int) -> Bounds:
    found = tango_interval(wins, losses, n)
    return found.low, found.high


def flips(rng: np.random.Generator, n: int, psi: float, difference: float) -> tuple[int, int]:
    wins, losses, _ = rng.multinomial(n, [(psi + difference) / 2, (psi - difference) / 2, 1 - psi])
    return int(wins), int(losses)


def tango_cell(n: int, psi: float, difference: float) -> Cell:
    return lambda rng: (tango(*flips(rng, n, psi, difference), n), difference)


def wald_cell(n: int, psi: float, difference: float) -> Cell:
    """What is usually done: the difference plus and minus 1.96 of its estimated standard error."""

    def cell(rng: np.random.Generator) -> tuple[Bounds, float]:
        wins, losses = flips(rng, n, psi, difference)
        found = (wins - losses) / n
        half = 1.96 * math.sqrt(((wins + losses) / n - found**2) / n)
        return (found - half, found + half), difference

    return cell


PROPORTIONS = {
    "n=30, a tenth flips": tango_cell(30, 0.1, 0.05),
    "n=50, half flips": tango_cell(50, 0.5, 0.0),
    "n=100, a fifth flips": tango_cell(100, 0.2, 0.1),
    "n=400, a twentieth flips": tango_cell(400, 0.05, 0.02),
    "n=1,000, a tenth flips": tango_cell(1_000, 0.1, -0.03),
}


def graded_cell(n: int, clusters: int | None = None) -> Cell:
    """Graded answers that share their items' difficulty; with clusters also what their documents do to them."""
    ids = None if clusters is None else np.repeat(np.arange(clusters), n // clusters)

    def cell(rng: np.random.Generator) -> tuple[Bounds, float]:
        before = rng.uniform(0.2, 0.8, n)
        shift = 0.05 + rng.normal(0, 0.1, n)
        if clusters is not None:
            shift += np.repeat(rng.normal(0, 0.1, clusters), n // clusters)
        found = paired(before, before + shift, ids, rng=np.random.default_rng(1)).difference
        assert found.interval is not None
        return (found.interval.low, found.interval.high), 0.05

    return cell


GRADED = {
    "n=30": graded_cell(30),
    "n=200": graded_cell(200),
    "40 documents of 5": graded_cell(200, 40),
    "12 documents of 10": graded_cell(120, 12),
}


def judged(rng: np.random.Generator, p: float, sensitivity: float, specificity: float, n: int) -> np.ndarray:
    truth = (rng.random(n) < p).astype(float)
    right = np.where(truth == 1, rng.random(n) < sensitivity, rng.random(n) < specificity)
    return np.stack([truth, np.where(right, truth, 1 - truth)])


def corrected(found: LabelledScores, part: str = "estimate") -> Bounds:
    value = getattr(calibrate(found, rng=np.random.default_rng(1)), part)
    return value.interval.low, value.interval.high


def judge_cell(
    p: float, sensitivity: float, specificity: float, labels: int, rest: int, part: str = "estimate"
) -> Cell:
    def cell(rng: np.random.Generator) -> tuple[Bounds, float]:
        truth, said = judged(rng, p, sensitivity, specificity, labels + rest)
        found = LabelledScores(labels=truth[:labels], judged=said[:labels], rest=said[labels:])
        return corrected(found, part), p

    return cell


def suggested_cell(labels: int) -> Cell:
    """A judge who gives chances that are right on average; the doubtful are labelled more often."""

    def cell(rng: np.random.Generator) -> tuple[Bounds, float]:
        said = rng.beta(0.6, 0.3, 1_000)
        truth = (rng.random(1_000) < said).astype(float)
        chances = chances_to_label(np.sqrt(said * (1 - said)), labels)
        chosen = np.zeros(1_000, dtype=bool)
        chosen[drawn(chances, rng=rng)] = True
        found = LabelledScores(
            labels=truth[chosen],
            judged=said[chosen],
            rest=said[~chosen],
            chances=chances[chosen],
            rest_chances=chances[~chosen],
        )
        return corrected(found), 0.6 / 0.9

    return cell


def documents_cell(labelled: int, rest: int, size: int) -> Cell:
    """Answers about a document are alike, and so are the judge's errors; whole documents are labelled."""
    ids = np.repeat(np.arange(labelled + rest), size)

    def cell(rng: np.random.Generator) -> tuple[Bounds, float]:
        truth = (rng.random(len(ids)) < rng.beta(4, 1, labelled + rest)[ids]).astype(float)
        wrong = rng.random(len(ids)) < rng.beta(1, 6, labelled + rest)[ids]
        said, cut = np.where(wrong, 1 - truth, truth), labelled * size
        found = LabelledScores(
            labels=truth[:cut], judged=said[:cut], rest=said[cut:], clusters=ids[:cut], rest_clusters=ids[cut:]
        )
        return corrected(found), 0.8

    return cell


JUDGES = {
    "30 documents of 8 labelled": documents_cell(30, 150, 8),
    "p=.6, se=.9, sp=.8": judge_cell(0.6, 0.9, 0.8, 150, 2_000),
    "p=.95, 50 labels": judge_cell(0.95, 0.9, 0.8, 50, 1_000),
    "p=.98, a judge right in 98 %": judge_cell(0.98, 0.98, 0.98, 100, 2_000),
    "p=.03, 60 labels": judge_cell(0.03, 0.9, 0.95, 60, 1_000),
    "a judge who knows nothing": judge_cell(0.6, 0.5, 0.5, 80, 1_000),
    "suggested labels": suggested_cell(100),
}
FAMILIES = {"proportions": PROPORTIONS, "graded": GRADED, "judges": JUDGES}


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover_as_claimed(family: str, covers_as_claimed: Check) -> None:
    found = {name: coverage(cell, SHORT) for name, cell in FAMILIES[family].items()}
    assert covers_as_claimed(list(found.values()), SHORT), found


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover_as_claimed_in_the_long_run(family: str, covers_as_claimed: Check) -> None:
    found = {name: coverage(cell, LONG) for name, cell in FAMILIES[family].items()}
    print(family, {name: round(share, 3) for name, share in found.items()})
    assert covers_as_claimed(list(found.values()), LONG), found


def chosen_cell(rng: np.random.Generator) -> tuple[Bounds, float]:
    """People label only what a judge was unsure of, and nobody says so."""
    said = rng.beta(2, 1, 1_000)
    truth = (rng.random(1_000) < said**2).astype(float)
    doubtful = np.argsort(np.abs(said - 0.5))[:80]
    rest = np.setdiff1d(np.arange(1_000), doubtful)
    found = LabelledScores(labels=truth[doubtful], judged=said[doubtful], rest=said[rest])
    return corrected(found), 0.5


CONTROLS = {
    "the raw judge": judge_cell(0.6, 0.9, 0.8, 150, 30_000, part="judge"),
    "labels of the doubtful alone": chosen_cell,
    "Wald's interval where little flips": wald_cell(50, 0.03, 0.02),
    "clusters taken for items": lambda rng: _as_items(rng),
}


def _as_items(rng: np.random.Generator) -> tuple[Bounds, float]:
    before = rng.uniform(0.2, 0.8, 200)
    shift = 0.05 + np.repeat(rng.normal(0, 0.1, 20), 10) + rng.normal(0, 0.02, 200)
    found = paired(before, before + shift, rng=rng).difference
    assert found.interval is not None
    return (found.interval.low, found.interval.high), 0.05


@pytest.mark.parametrize("control", CONTROLS)
def test_the_usual_recipes_fail_the_same_check(control: str, covers_as_claimed: Check) -> None:
    found = coverage(CONTROLS[control], SHORT)
    assert found < 0.87
    assert not covers_as_claimed([found], SHORT), found


def false_alarms(chance: Callable[[np.random.Generator], float | None], runs: int) -> float:
    rng = np.random.default_rng(5)
    return float(np.mean([(p := chance(rng)) is not None and p < 0.05 for _ in range(runs)]))


def flipped_at_random(rng: np.random.Generator) -> float:
    return mcnemar(*flips(rng, 200, 0.15, 0.0))


def graded_at_random(rng: np.random.Generator) -> float | None:
    before = rng.choice([0.0, 0.5, 1.0], size=40)
    after = before[rng.permutation(40)]
    return paired(before, after, rng=rng).p


def clustered_at_random(rng: np.random.Generator) -> float | None:
    ids = np.repeat(np.arange(15), 8)
    gap = np.repeat(rng.normal(0, 0.1, 15), 8) + rng.normal(0, 0.1, 120)
    return paired(np.zeros(120), gap, ids, rng=rng).p


@pytest.mark.parametrize("chance", [flipped_at_random, graded_at_random, clustered_at_random])
def test_false_alarms_stay_at_five_per_cent(chance: Callable[[np.random.Generator], float | None]) -> None:
    runs = 400
    assert false_alarms(chance, runs) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
