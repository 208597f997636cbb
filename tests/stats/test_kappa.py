from __future__ import annotations

import time

import numpy as np
import pytest

from assay.stats.classification import Pairs
from assay.stats.kappa import Weighting, cohens_kappa, distances
from assay.types import MetricValue

VALUES = [0, 0.1, 0.5, 0.9, 1]
WEIGHTINGS: list[Weighting] = ["none", "linear", "quadratic"]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def digits(text: str) -> np.ndarray:
    return np.array([int(letter) for letter in text])


CHECK = Pairs(digits("0033440343"), digits("0334430340"), 5)


def bounds(value: MetricValue) -> tuple[float, float]:
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is not None
    return value.interval.low, value.interval.high


@pytest.mark.parametrize(("weighting", "value"), [("none", 0.3939), ("linear", 0.5238), ("quadratic", 0.5648)])
def test_distances_go_by_value_over_the_whole_scale(weighting: Weighting, value: float) -> None:
    found = cohens_kappa(CHECK, VALUES, weighting, rng=rng())
    assert found.value == pytest.approx(value, abs=5e-5)
    low, high = bounds(found)
    assert low < value < high


def test_an_option_that_nobody_chose_changes_the_interval_but_not_the_value() -> None:
    wider = Pairs(CHECK.truth, CHECK.predicted, 7)
    found = cohens_kappa(CHECK, VALUES, "linear", rng=rng())
    same = cohens_kappa(wider, [*VALUES, 0.3, 0.7], "linear", rng=rng())
    assert same.value == pytest.approx(found.value)
    assert bounds(same) != bounds(found)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_perfect_agreement_has_a_width(weighting: Weighting) -> None:
    codes = np.arange(30) % 5
    found = cohens_kappa(Pairs(codes, codes, 5), VALUES, weighting, rng=rng())
    low, high = bounds(found)
    assert found.value == high == 1.0
    assert 0.5 < low < 0.99


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_five_copies_with_their_clusters_and_any_order_change_nothing(weighting: Weighting) -> None:
    ids = np.arange(10)
    for clusters in (ids, ids // 2):
        once = cohens_kappa(Pairs(CHECK.truth, CHECK.predicted, 5, clusters), VALUES, weighting, rng=rng())
        order = np.random.default_rng(3).permutation(50)
        parts = [np.repeat(part, 5)[order] for part in (CHECK.truth, CHECK.predicted, clusters)]
        five = cohens_kappa(Pairs(parts[0], parts[1], 5, parts[2]), VALUES, weighting, rng=rng())
        assert bounds(five) == pytest.approx(bounds(once), abs=1e-12)
    alone = cohens_kappa(CHECK, VALUES, weighting, rng=rng())
    assert alone == cohens_kappa(Pairs(CHECK.truth, CHECK.predicted, 5, ids), VALUES, weighting, rng=rng())


def test_undefined_values_say_why() -> None:
    same = Pairs(np.zeros(5, int), np.zeros(5, int), 5)
    for pairs, values, reason in [
        (same, VALUES, "only one class occurs"),
        (CHECK, [0.5] * 5, "all options have the same value"),
        (Pairs(np.array([0]), np.array([1]), 5), VALUES, "needs at least 2 items"),
        (Pairs(np.zeros(0, int), np.zeros(0, int), 5), VALUES, "needs at least 2 items"),
    ]:
        found = cohens_kappa(pairs, values, "linear", rng=rng())
        assert (found.value, found.interval, found.reason) == (None, None, reason)


def test_a_rater_who_never_varies_agrees_by_chance_alone() -> None:
    found = cohens_kappa(Pairs(CHECK.truth, np.zeros(10, int), 5), VALUES, "quadratic", rng=rng())
    assert found.value == pytest.approx(0.0)


@pytest.mark.parametrize("values", [None, [0, 1]])
def test_a_weighted_kappa_needs_the_value_of_every_option(values: list[float] | None) -> None:
    with pytest.raises(ValueError, match="every declared option"):
        cohens_kappa(CHECK, values, "linear", rng=rng())


def test_distances_do_not_depend_on_the_unit_of_the_values() -> None:
    for weighting in WEIGHTINGS:
        assert distances([0, 5, 10], weighting) == pytest.approx(distances([2, 2.5, 3], weighting))


def test_ten_thousand_draws_of_ten_thousand_pairs_are_quick() -> None:
    random = np.random.default_rng(5)
    pairs = Pairs(random.integers(0, 5, 10_000), random.integers(0, 5, 10_000), 5)
    start = time.process_time()
    cohens_kappa(pairs, VALUES, "quadratic", rng=rng())
    assert time.process_time() - start < 0.5
