"""Samples, differences and power: each from the other two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.paired import items_to_decide, mcnemar
from assay.stats.power import detectable, items_needed, paired_design, power_of, unpaired_mean, unpaired_share

designs = st.one_of(
    st.floats(0.02, 1).map(paired_design),
    st.floats(0.02, 0.98).map(unpaired_share),
    st.floats(0.01, 5).map(unpaired_mean),
)


@given(designs, st.floats(0.001, 0.02), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_samples_needed_give_the_power_asked_for(design, difference, power):
    n = items_needed(design, difference, power=power)
    assert power_of(design, difference, n) >= power - 1e-9
    assert power_of(design, difference, max(n - 2, 1)) < power + 1e-9


@given(designs, st.integers(30, 100_000))
def test_the_detectable_difference_needs_just_these_samples(design, n):
    found = detectable(design, n)
    if found is None:
        assert power_of(design, design.most, n) < 0.8
    else:
        assert items_needed(design, found * (1 + 1e-9)) == pytest.approx(n, abs=2)


@given(st.floats(0.05, 0.5), st.floats(0.005, 0.04))
def test_a_paired_plan_agrees_with_what_a_comparison_says(flips, difference):
    assert items_needed(paired_design(flips), difference) == items_to_decide(flips, difference)


def test_more_than_all_flips_cannot_be_won():
    assert items_needed(paired_design(0.1), 0.2) is None
    assert items_needed(paired_design(0.1), 0.0) is None
    assert detectable(paired_design(0.1), 5) is None
    assert power_of(paired_design(1.0), 1.0, 4) == 1.0
    assert power_of(paired_design(1.0), 1.0, 3) == 0.0


def test_less_power_never_needs_more_samples():
    needed = [items_needed(paired_design(0.2), 0.05, power=power) for power in (0.001, 0.02, 0.2, 0.5, 0.8, 0.99)]
    assert needed == sorted(needed)
    assert needed[0] == 2


def test_pairs_need_fewer_samples_than_different_ones():
    assert items_needed(paired_design(0.1), 0.03) < items_needed(unpaired_share(0.8), 0.03)


def test_unpaired_numbers_are_those_of_statsmodels():
    from statsmodels.stats.power import NormalIndPower, tt_ind_solve_power

    expected = tt_ind_solve_power(effect_size=0.25, alpha=0.05, power=0.8)
    assert items_needed(unpaired_mean(4.0), 0.5) == pytest.approx(expected, abs=2)
    # the arcsine approximation is another one: close, not equal
    from statsmodels.stats.proportion import proportion_effectsize

    near = NormalIndPower().solve_power(effect_size=proportion_effectsize(0.85, 0.8), alpha=0.05, power=0.8)
    assert items_needed(unpaired_share(0.8), 0.05) == pytest.approx(near, rel=0.02)


def test_simulated_comparisons_are_decided_as_often_as_planned():
    """At 626 samples, a fifth of which flip, five points are found four times out of five."""
    rng = np.random.default_rng(4)
    n = items_needed(paired_design(0.2), 0.05)
    flips = rng.multinomial(n, [0.125, 0.075, 0.8], size=1_500)
    found = np.mean([mcnemar(int(won), int(lost)) < 0.05 for won, lost, _ in flips])
    assert found == pytest.approx(0.8, abs=0.05)
