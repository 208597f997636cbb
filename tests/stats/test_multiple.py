"""Chances adjusted for the number of looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.stats.multiple import benjamini_hochberg, holm

chances = st.lists(st.none() | st.floats(0, 1), max_size=12)


@given(chances)
def test_adjusting_never_makes_a_chance_smaller_and_leaves_gaps(given):
    for adjust in (holm, benjamini_hochberg):
        for before, after in zip(given, adjust(given), strict=True):
            assert (before is None) == (after is None)
            assert before is None or before - 1e-15 <= after <= 1


@given(chances)
def test_holm_is_the_stricter_of_the_two(given):
    for strict, loose in zip(holm(given), benjamini_hochberg(given), strict=True):
        assert strict is None or strict >= loose - 1e-12


@given(st.permutations([0.001, 0.01, 0.03, 0.2]))
def test_the_order_of_the_comparisons_does_not_matter(given):
    adjusted = dict(zip(given, holm(given), strict=True))
    assert adjusted == dict(zip([0.001, 0.01, 0.03, 0.2], holm([0.001, 0.01, 0.03, 0.2]), strict=True))


def test_one_comparison_is_not_adjusted():
    assert holm([0.04]) == [0.04]
    assert benjamini_hochberg([0.04]) == [0.04]
    assert holm([]) == []
