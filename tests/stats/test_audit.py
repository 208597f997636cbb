"""Effects that should be none, held against a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.audit import MOST, held_against, mean_change, place_preference, share_changed
from assay.types import Interval, MetricValue

K = 5


def leanings(bias, n, seed, *, wavering=0.0):
    """A judge that takes the first option in a share of all questions, and wavers in another; else the same option."""
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(K), (n, 1)), axis=1)
    right = rng.integers(0, K, n)
    places = []
    for shown in (orders, orders[:, ::-1]):
        said = np.where(rng.random(n) < wavering, rng.integers(0, K, n), right)
        place = np.argmax(shown == said[:, None], axis=1)
        places.append(np.where(rng.random(n) < bias, 0, place))
    return place_preference(*places, np.full(n, K))


def test_a_planted_bias_of_15_points_fails_in_at_least_95_of_100_seeds():
    verdicts = [held_against(mean_change(leanings(0.15, 200, seed)), 0.05).verdict for seed in range(200)]
    assert verdicts.count("FAIL") >= 190
    assert "PASS" not in verdicts


def test_an_unbiased_judge_passes_and_one_that_wavers_does_not_fail():
    for seed in range(50):
        assert held_against(mean_change(leanings(0.0, 200, seed)), 0.05).verdict == "PASS"
    wavering = [held_against(mean_change(leanings(0.0, 200, seed, wavering=0.2)), 0.05) for seed in range(200)]
    assert sum(found.verdict == "FAIL" for found in wavering) == 0


@pytest.mark.parametrize("bias", [0.0, 0.15])
def test_five_items_are_inconclusive_and_say_how_many_would_tell(bias):
    for seed in range(200):
        found = held_against(mean_change(leanings(bias, 5, seed)), 0.05)
        assert found.verdict == "INCONCLUSIVE"
        assert found.n_to_decide is None or found.n_to_decide > 5


@pytest.mark.parametrize(("bias", "n"), [(0.0, 30), (0.05, 100), (0.15, 30), (0.15, 200), (0.5, 30)])
def test_the_interval_covers_the_planted_bias(bias, n):
    covered = 0
    for seed in range(400):
        found = mean_change(leanings(bias, n, seed, wavering=0.1)).interval
        covered += found.low <= bias <= found.high
    assert covered >= 0.91 * 400


def test_the_n_that_would_decide_does():
    found = held_against(mean_change(np.zeros(20)), 0.05)
    assert held_against(mean_change(np.zeros(found.n_to_decide)), 0.05).verdict == "PASS"
    assert held_against(mean_change(np.zeros(found.n_to_decide - 1)), 0.05).verdict == "INCONCLUSIVE"
    changes = np.tile([0.9, -0.9, 0, 0, 0, 0], 10)
    asked = held_against(mean_change(changes), 0.05)
    many = np.resize(changes, asked.n_to_decide // 6 * 6 + 6)
    assert held_against(mean_change(many), 0.05).verdict == "PASS"


def test_an_effect_on_the_threshold_is_never_decided():
    value = MetricValue(value=0.05, n=10, interval=Interval(low=0.0, high=0.1, method="m"))
    assert held_against(value, 0.05).n_to_decide is None
    near = MetricValue(value=0.0500001, n=10, interval=Interval(low=0.0, high=0.1, method="m"))
    assert held_against(near, 0.05).n_to_decide is None
    assert MOST >= 100_000


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.05, 0.05, "PASS"),
        (-0.04, 0.06, "INCONCLUSIVE"),
        (0.051, 0.2, "FAIL"),
        (-0.2, -0.051, "FAIL"),
        (-0.2, 0.2, "INCONCLUSIVE"),
        (None, 0.2, "INCONCLUSIVE"),
    ],
)
def test_only_the_whole_interval_decides(low, high, verdict):
    middle = 0.0 if low is None else (low + high) / 2
    value = MetricValue(value=middle, n=10, interval=Interval(low=low, high=high, method="m"))
    assert held_against(value, 0.05).verdict == verdict


def test_nothing_to_compare_is_undefined_and_inconclusive():
    for effect in (mean_change([]), share_changed([])):
        assert effect.value is None
        assert effect.reason == "no item has both answers"
        assert held_against(effect, 0.05).verdict == "INCONCLUSIVE"


def test_a_change_beyond_one_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="between -1 and 1"):
        mean_change([1.5])


def test_where_nothing_changed_the_interval_has_a_width():
    found = mean_change(np.zeros(20)).interval
    z2 = 1.959963984540054**2
    assert (found.low, found.high) == pytest.approx((-z2 / (20 + z2), z2 / (20 + z2)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
def test_the_interval_holds_the_mean_and_turns_with_the_sign(changes):
    one, other = mean_change(changes), mean_change([-each for each in changes])
    assert one.interval.low - 1e-12 <= one.value <= one.interval.high + 1e-12
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.value == pytest.approx(np.mean(changes))


def test_copies_of_a_row_in_its_cluster_change_nothing():
    changes = leanings(0.3, 30, 1, wavering=0.2)
    plain = mean_change(changes, np.arange(30)).interval
    copied = mean_change(np.repeat(changes, 5), np.repeat(np.arange(30), 5)).interval
    assert (plain.low, plain.high) == pytest.approx((copied.low, copied.high), abs=1e-12)
