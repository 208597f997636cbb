from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.classification import Pairs
from assay.stats.errors_between import adjacent_accuracy, errors_between
from assay.types import MetricValue


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def bounds(value: MetricValue) -> tuple[float, float]:
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is not None
    return value.interval.low, value.interval.high


@pytest.mark.parametrize("declared", [(0.0, 1.0), None])
def test_bias_mae_and_rmse_are_what_they_are_called(declared: tuple[float, float] | None) -> None:
    random = np.random.default_rng(2)
    truth = random.random(60)
    judge = np.clip(truth + random.normal(size=60) / 5 + 0.05, 0, 1)
    found = errors_between(judge, truth, rng=rng(), bounds=declared)
    apart = judge - truth
    assert found.bias.value == pytest.approx(apart.mean())
    assert found.mae.value == pytest.approx(np.abs(apart).mean())
    assert found.rmse.value == pytest.approx(math.sqrt((apart**2).mean()))
    for value in (found.bias, found.mae, found.rmse):
        low, high = bounds(value)
        assert low < value.value < high  # type: ignore[operator]
        assert high - low < 0.2
    method = "bootstrap_t" if declared is None else "wilson_effective"
    assert found.rmse.interval is not None
    assert found.rmse.interval.method == method


def test_a_perfect_judge_has_intervals_with_a_width() -> None:
    found = errors_between(np.linspace(0, 1, 30), np.linspace(0, 1, 30), rng=rng(), bounds=(0, 1))
    low, high = bounds(found.mae)
    assert (found.bias.value, found.mae.value, found.rmse.value) == (0, 0, 0)
    assert low == 0 < high < 0.12
    assert bounds(found.bias) == (-high, high)
    assert bounds(found.rmse) == (0, math.sqrt(high))


def test_errors_that_all_point_one_way_let_the_bias_reach_as_far_as_the_mae() -> None:
    truth = np.full(60, 0.5)
    judge = truth + np.array([0.25] * 2 + [0.0] * 58)
    high = errors_between(judge, truth, rng=rng(), bounds=(0, 1))
    low = errors_between(truth, judge, rng=rng(), bounds=(0, 1))
    assert bounds(high.bias)[1] == pytest.approx(bounds(high.mae)[1])
    assert bounds(low.bias)[0] == pytest.approx(-bounds(low.mae)[1])
    assert bounds(high.bias)[0] == pytest.approx(-bounds(low.bias)[1])


def test_sizes_of_errors_are_not_below_zero_without_a_range() -> None:
    apart = np.array([0.0] * 9 + [7.5])
    found = errors_between(apart, np.zeros(10), rng=rng())
    assert bounds(found.mae)[0] >= 0
    assert bounds(found.rmse)[0] >= 0


def test_nothing_to_compare_is_none_with_a_reason() -> None:
    found = errors_between([], [], rng=rng(), bounds=(0, 1))
    for value in (found.bias, found.mae, found.rmse):
        assert (value.value, value.reason) == (None, "no sample has a value")


def test_five_copies_with_their_clusters_change_no_interval() -> None:
    random = np.random.default_rng(2)
    truth, judge, ids = random.random(30), random.random(30), np.arange(30)
    for declared in ((0.0, 1.0), None):
        once = errors_between(judge, truth, ids, rng=rng(), bounds=declared)
        parts = [np.repeat(part, 5) for part in (judge, truth, ids)]
        five = errors_between(parts[0], parts[1], parts[2], rng=rng(), bounds=declared)
        for name in ("bias", "mae", "rmse"):
            assert bounds(getattr(five, name)) == pytest.approx(bounds(getattr(once, name)), abs=1e-12)


def test_adjacent_options_go_by_value_and_equal_values_share_a_rank() -> None:
    pairs = Pairs(np.array([0, 0, 0, 0]), np.array([0, 1, 2, 3]), 4)
    assert adjacent_accuracy(pairs, [0, 0.3, 0.6, 1]).value == 0.5
    assert adjacent_accuracy(pairs, [0, 0.3, 0.3, 1]).value == 0.75
    assert adjacent_accuracy(pairs, [0, 1, 0.1, 0.2]).value == 0.5
    assert adjacent_accuracy(Pairs(np.zeros(0, int), np.zeros(0, int), 4), [0, 1, 2, 3]).value is None
