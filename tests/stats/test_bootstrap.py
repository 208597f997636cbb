from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.bootstrap import bootstrap_t, t_value
from assay.stats.clusters import Units, units
from assay.types import Interval


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def of(values: np.ndarray | list[float], clusters: np.ndarray | None = None) -> Units:
    return units(values, np.ones(len(values)), clusters=clusters)


def bounds(found: Interval) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def direct(values: np.ndarray, draws: int) -> tuple[float, float]:
    """Bootstrap-t by drawing every sample, in plain words."""
    random = np.random.default_rng(3)
    n, centre = len(values), values.mean()
    error = values.std(ddof=1) / np.sqrt(n)
    ratios = []
    for _ in range(draws):
        drawn = values[random.integers(0, n, n)]
        ratios.append((drawn.mean() - centre) / (drawn.std(ddof=1) / np.sqrt(n)))
    below, above = np.quantile(ratios, [0.025, 0.975])
    return centre - above * error, centre - below * error


@pytest.mark.parametrize("n", [30, 3_000])
def test_it_agrees_with_drawing_every_sample(n: int) -> None:
    """3,000 distinct values are put into bins; the bounds must not show it."""
    values = np.random.default_rng(5).lognormal(size=n)
    expected = direct(values, 6_000)
    width = expected[1] - expected[0]
    assert bounds(bootstrap_t(of(values), rng=rng())) == pytest.approx(expected, abs=0.05 * width)


def test_it_follows_the_skewness() -> None:
    values = np.random.default_rng(5).lognormal(size=40)
    low, high = bounds(bootstrap_t(of(values), rng=rng()))
    assert high - values.mean() > 1.3 * (values.mean() - low)


def test_two_or_three_values_get_the_t_interval() -> None:
    found = bootstrap_t(of([1.0, 3.0]), rng=rng())
    assert (found.method, found.caveat) == ("t", "few values")
    assert bounds(found) == pytest.approx((2 - t_value(0.95, 1), 2 + t_value(0.95, 1)))


@pytest.mark.parametrize(
    ("values", "why"),
    [([5.0], "one value has no spread"), ([5.0] * 9, "all values are equal and the field has no declared range")],
)
def test_without_spread_there_are_no_bounds(values: list[float], why: str) -> None:
    found = bootstrap_t(of(values), rng=rng())
    assert (found.low, found.high, found.caveat) == (None, None, why)


def test_one_value_that_differs_gives_finite_bounds() -> None:
    """A third of the resamples has equal values only, and no standard error of its own."""
    low, high = bounds(bootstrap_t(of([1.0] * 29 + [2.5]), rng=rng()))
    assert low < 1.05 < high
    assert high < 3


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=4, max_size=25), st.integers(1, 2))
def test_five_copies_of_each_row_with_its_cluster_change_no_bound(values: list[float], size: int) -> None:
    clusters = np.arange(len(values)) // size
    once = bootstrap_t(of(values, clusters), rng=rng(), draws=400)
    copied = bootstrap_t(of(np.repeat(values, 5), np.repeat(clusters, 5)), rng=rng(), draws=400)
    if once.low is None:
        assert copied.low is None
    else:
        assert bounds(copied) == pytest.approx(bounds(once), rel=1e-12, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=25), st.randoms())
def test_the_order_of_the_rows_changes_nothing(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert bootstrap_t(of(values), rng=rng(), draws=300) == bootstrap_t(of(shuffled), rng=rng(), draws=300)


def test_ten_thousand_draws_of_ten_thousand_distinct_values_are_quick() -> None:
    found = of(np.random.default_rng(5).lognormal(size=10_000))
    start = time.process_time()
    bootstrap_t(found, rng=rng())
    assert time.process_time() - start < 1.5
