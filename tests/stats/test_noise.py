from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.noise import noise_floor


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_the_floor_is_how_much_means_of_repeated_runs_spread() -> None:
    """Two hundred items with their own chance of success, run 4 times; the mean of all 4 runs, made 2,000 times."""
    random = np.random.default_rng(2)
    chance = random.beta(2, 1, size=(200, 1))
    floor = noise_floor((random.random((200, 4)) < chance).astype(float), rng=rng(), bounds=(0, 1)).floor
    means = (random.random((2_000, 200, 4)) < chance).mean(axis=(1, 2))
    assert floor.value == pytest.approx(means.std(), rel=0.1)
    assert floor.interval is not None
    assert floor.interval.low < means.std() < floor.interval.high  # type: ignore[operator]


def test_two_runs_of_one_model_differ_by_less_than_the_difference_in_95_of_100() -> None:
    random = np.random.default_rng(3)
    chance = random.random((100, 1))
    found = noise_floor((random.random((100, 5)) < chance).astype(float), rng=rng(), bounds=(0, 1))
    first, second = ((random.random((3_000, 100, 5)) < chance).mean(axis=(1, 2)) for _ in range(2))
    assert found.difference.value is not None
    assert np.mean(np.abs(first - second) < found.difference.value) == pytest.approx(0.95, abs=0.03)


def test_the_formula_with_and_without_gaps() -> None:
    table = np.array([[0.0, 1, 1], [1, 1, 1], [0.5, 0, 1]])
    found = noise_floor(table, rng=rng(), bounds=(0, 1)).floor
    assert found.value == pytest.approx(math.sqrt(table.var(axis=1, ddof=1).mean() / (3 * 3)))
    gaps = np.vstack([table, [[1, np.nan, np.nan]], [[np.nan] * 3]])
    assert noise_floor(gaps, rng=rng(), bounds=(0, 1)).floor == found
    two = noise_floor([[0, 1, np.nan], [0, 0, 1]], rng=rng(), bounds=(0, 1)).floor
    assert two.value == pytest.approx(math.sqrt((0.5 / 2 + (1 / 3) / 3) / 2 / 2))


def test_a_model_that_never_wavers_has_a_floor_of_0_with_a_width() -> None:
    found = noise_floor(np.tile([[0.0], [1.0]], (10, 3)), rng=rng(), bounds=(0, 1))
    assert found.floor.value == found.difference.value == 0
    assert found.floor.interval is not None
    assert found.floor.interval.high > 0  # type: ignore[operator]


def test_one_repeat_says_nothing() -> None:
    found = noise_floor([[1.0], [0.0]], rng=rng())
    assert (found.floor.value, found.difference.reason) == (None, "no item has two repeats")


def test_values_without_a_range_have_a_bootstrap_t_interval() -> None:
    found = noise_floor(np.random.default_rng(4).normal(size=(40, 3)), rng=rng()).floor
    assert found.interval is not None
    assert found.interval.method == "bootstrap_t"
    assert found.interval.low < found.value < found.interval.high  # type: ignore[operator]
