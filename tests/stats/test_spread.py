from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.bootstrap import t_value
from assay.stats.spread import quantile, std_dev

numbers = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40)


def test_the_interval_of_a_standard_deviation_follows_the_formula() -> None:
    values = np.array([1.0, 2.0, 2.0, 5.0, 9.0])
    n, s = 5, values.std(ddof=1)
    centred = values - values.mean()
    kurtosis = n * np.sum(centred**4) / np.sum(centred**2) ** 2
    half = t_value(0.95, 4) * math.sqrt((kurtosis - (n - 3) / (n - 1)) / (4 * n))
    value = std_dev(values)
    assert value.value == pytest.approx(s)
    assert value.interval is not None
    assert value.interval.low == pytest.approx(s * math.exp(-half))
    assert value.interval.high == pytest.approx(s * math.exp(half))
    assert value.interval.caveat == "rough"
    assert value.interval.clusters is None


@pytest.mark.parametrize("values", [[], [3.0]])
def test_a_standard_deviation_needs_two_values(values: list[float]) -> None:
    value = std_dev(values)
    assert (value.value, value.n) == (None, len(values))
    assert value.reason == "a standard deviation needs at least 2 values"


def test_equal_values_have_the_deviation_0_and_no_interval() -> None:
    value = std_dev([2.0, 2.0, 2.0])
    assert value.value == 0.0
    assert value.interval is not None
    assert (value.interval.low, value.interval.high, value.interval.caveat) == (None, None, "all values are equal")


def test_values_of_one_cluster_have_no_interval_of_their_spread() -> None:
    value = std_dev([1.0, 2.0], np.array([3, 3]))
    assert value.interval is not None
    assert value.interval.caveat == "all values come from one cluster"


@given(numbers)
def test_five_copies_with_their_cluster_leave_the_interval_of_the_deviation(values: list[float]) -> None:
    clusters = np.arange(len(values))
    once, copied = std_dev(values), std_dev(np.repeat(values, 5), np.repeat(clusters, 5))
    assert once.interval is not None
    assert copied.interval is not None
    if once.interval.low is None:
        assert copied.interval.low is None
    else:
        assert copied.interval.low == pytest.approx(once.interval.low, rel=1e-12)
        assert copied.interval.high == pytest.approx(once.interval.high, rel=1e-12)


@given(numbers, st.floats(0, 1))
def test_a_quantile_is_linear_between_values(values: list[float], share: float) -> None:
    assert quantile(values, share).value == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-9)


@given(numbers, st.floats(0.05, 0.95))
def test_counts_and_copies_with_their_cluster_leave_the_bounds_of_a_quantile(values: list[float], share: float) -> None:
    once = quantile(values, share)
    copied = quantile(np.repeat(values, 5), share, np.repeat(np.arange(len(values)), 5))
    assert once.interval is not None
    assert copied.interval is not None
    assert (copied.interval.low, copied.interval.high) == (once.interval.low, once.interval.high)


@pytest.mark.parametrize(("n", "has_upper"), [(71, False), (72, True)])
def test_the_upper_bound_of_the_95th_percentile_needs_72_values(n: int, has_upper: bool) -> None:
    found = quantile(np.arange(n), 0.95).interval
    assert found is not None
    assert (found.high is not None) is has_upper
    assert (found.caveat is None) is has_upper


@pytest.mark.parametrize(("n", "low", "high"), [(6, 1, 6), (10, 2, 9), (100, 40, 61)])
def test_the_ranks_around_a_median_are_those_of_the_binomial(n: int, low: int, high: int) -> None:
    found = quantile(np.arange(1, n + 1), 0.5).interval
    assert found is not None
    assert (found.low, found.high) == (low, high)


def test_five_values_cannot_enclose_their_median() -> None:
    found = quantile([1, 2, 3, 4, 5], 0.5).interval
    assert found is not None
    assert (found.low, found.high, found.caveat) == (None, None, "too few values for both bounds")


def test_bounds_on_one_value_are_no_interval() -> None:
    found = quantile([1.0] * 97 + [0.0] * 3, 0.5).interval
    assert found is not None
    assert (found.low, found.high) == (None, None)
    assert found.caveat == "so many values are 1 that both bounds are 1"


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_ends_have_one_bound_at_most(share: float) -> None:
    value = quantile([3.0, 1.0, 2.0], share)
    assert value.value == (1.0 if share == 0 else 3.0)
    assert value.interval is not None
    assert None in (value.interval.low, value.interval.high)


def test_a_quantile_of_nothing_is_undefined() -> None:
    assert quantile([], 0.5).reason == "no sample has a value"
