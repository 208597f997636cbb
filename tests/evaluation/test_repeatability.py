"""The spread of a value over repeated runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation.repeatability import spread


def test_the_spread_of_two_runs():
    found = spread([0.5, 0.7])
    assert found.mean == pytest.approx(0.6)
    assert found.std_dev == pytest.approx(0.1414, abs=1e-4)
    assert (found.min, found.max, found.n) == (0.5, 0.7, 2)


def test_one_value_has_no_deviation_and_none_has_nothing():
    assert spread([0.5]).std_dev is None
    nothing = spread([])
    assert (nothing.mean, nothing.std_dev, nothing.min, nothing.max, nothing.n) == (None, None, None, None, 0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_the_mean_lies_between_the_ends(values):
    found = spread(values)
    assert found.min <= found.mean + 1e-6
    assert found.mean <= found.max + 1e-6
    assert found.std_dev >= 0
