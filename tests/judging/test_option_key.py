"""Labels of one option: without case, or equal as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.scale import Scale
from assay.judging.criteria import Criterion
from assay.judging.option_key import option_key


@pytest.mark.parametrize(
    ("one", "other"),
    [("Yes", "yes"), (" YES ", "yes"), ("1", "1.0"), ("1", "1.00"), ("-0", "0"), ("100", "1e2"), ("Straße", "STRASSE")],
)
def test_labels_of_one_option_share_a_key(one, other):
    assert option_key(one) == option_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "2"),
        ("1", "one"),
        ("1.0", "1.0.0"),
        ("12345678901234567890", "12345678901234567891"),
        ("nan", "inf"),
        ("1e999999999", "1e999999998"),
    ],
)
def test_labels_of_different_options_do_not(one, other):
    assert option_key(one) != option_key(other)


@given(st.integers(-(10**30), 10**30), st.integers(1, 5))
def test_zeros_behind_the_point_change_nothing(number, zeros):
    assert option_key(f"{number}.{'0' * zeros}") == option_key(str(number))


def test_a_rubric_has_its_option_under_an_equal_number_and_as_written_first():
    options = [{"label": label, "value": value} for label, value in (("1", 0.0), ("2", 0.5), ("2.0", 1.0))]
    criterion = Criterion.model_validate({"requirement": "r", "options": options})
    assert [criterion.find_option_by_label(label) for label in ("1.0", "2", "2.0", "2.00")] == [0, 1, 2, 1]


def test_an_option_that_abstains_does_so_under_an_equal_number():
    options = [
        {"label": "0", "value": 0.0},
        {"label": "1", "value": 1.0},
        {"label": "9.0", "value": 0.0, "na": True},
    ]
    scale = Scale.of(Criterion.model_validate({"requirement": "r", "options": options}))
    assert [scale.code(label) for label in ("0.0", "1", "9", "9.0")] == [0, 1, -1, -1]
