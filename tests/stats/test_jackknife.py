from __future__ import annotations

import numpy as np
import pytest

from assay.stats.jackknife import LeftOut, fisher_interval


def test_two_raters_have_the_inverse_hyperbolic_tangent() -> None:
    without = np.array([0.2, 0.3, 0.35, 0.25, 0.4])
    found = fisher_interval(LeftOut(estimate=0.3, without=without))
    z = np.arctanh(without)
    half = 2.7764451051977987 * np.sqrt(4 / 5 * np.sum((z - z.mean()) ** 2))
    assert (found.low, found.high) == pytest.approx(tuple(np.tanh(np.arctanh(0.3) + side * half) for side in (-1, 1)))


def test_units_may_be_counted() -> None:
    long = LeftOut(estimate=0.3, without=np.array([0.2, 0.2, 0.4, 0.4, 0.4]))
    short = LeftOut(estimate=0.3, without=np.array([0.2, 0.4]), counts=np.array([2, 3]))
    assert fisher_interval(short).low == pytest.approx(fisher_interval(long).low)


@pytest.mark.parametrize("raters", [2, 3, 10])
@pytest.mark.parametrize("estimate", [0.999, 0.0])
def test_bounds_stay_in_the_range_of_the_correlation(raters: int, estimate: float) -> None:
    bottom = -1 / (raters - 1)
    without = np.array([estimate - 0.0005, bottom / 2, estimate, 0.5, estimate])
    found = fisher_interval(LeftOut(estimate=estimate, without=without), raters=raters)
    assert found.low is not None
    assert found.high is not None
    assert bottom <= found.low < estimate < found.high <= 1


@pytest.mark.parametrize(
    ("estimate", "without", "why"),
    [
        (1.0, [0.9, 0.9], "perfect"),
        (0.5, [1.0, 0.4], "perfect"),
        (0.5, [np.inf, 0.4], "undefined"),
        (0.5, [np.nan, 0.4], "undefined"),
        (0.5, [0.5, 0.5], "changes nothing"),
    ],
)
def test_where_no_interval_can_be_had_it_says_why(estimate: float, without: list[float], why: str) -> None:
    found = fisher_interval(LeftOut(estimate=estimate, without=np.array(without)))
    assert (found.low, found.high) == (None, None)
    assert why in str(found.caveat)
