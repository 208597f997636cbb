"""Comparisons of runs against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from assay.stats.multiple import benjamini_hochberg, holm
from assay.stats.paired import mcnemar, paired, tango_statistic

chances = st.lists(st.floats(0, 1), min_size=1, max_size=15)
pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=30)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_that_of_statsmodels(wins: int, losses: int) -> None:
    expected = statsmodels_mcnemar([[5, wins], [losses, 7]], exact=True).pvalue
    assert mcnemar(wins, losses) == pytest.approx(expected, rel=1e-9)


@given(chances)
def test_adjusted_chances_are_those_of_statsmodels(given: list[float]) -> None:
    assert holm(given) == pytest.approx(multipletests(given, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(given) == pytest.approx(multipletests(given, method="fdr_bh")[1], abs=1e-12)


@settings(max_examples=50)
@given(pairs)
def test_the_interval_of_graded_differences_is_that_of_scipys_paired_t(rows: list[tuple[float, float]]) -> None:
    before, after = np.array(rows).T
    gap = after - before
    if float(np.abs(gap - gap.mean()).max()) < 1e-9 or set(np.unique(np.array(rows)).tolist()) <= {0.0, 1.0}:
        return
    found = paired(before, after, rng=np.random.default_rng(1)).difference
    expected = scipy.stats.ttest_rel(after, before).confidence_interval(0.95)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_random_signs_give_the_chance_of_scipys_permutation_test() -> None:
    rng = np.random.default_rng(5)
    before = rng.uniform(size=12)
    after = before + rng.normal(0.05, 0.1, size=12)
    expected = scipy.stats.permutation_test(
        (after - before,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    ).pvalue
    assert paired(before, after, rng=rng).p == pytest.approx(expected, abs=0.015)


@settings(max_examples=60)
@given(st.integers(0, 15), st.integers(0, 15), st.integers(1, 60), st.floats(-0.6, 0.6))
def test_tangos_flips_are_the_likeliest_under_the_assumed_difference(
    wins: int, losses: int, ties: int, difference: float
) -> None:
    """The statistic's standard error comes from the share lost that a plain search of the likelihood finds."""
    n = wins + losses + ties

    def unlikely(lost: float) -> float:
        parts = ((wins, lost + difference), (losses, lost), (ties, 1 - 2 * lost - difference))
        return -sum(count * np.log(max(share, 1e-300)) for count, share in parts if count)

    low, high = max(0.0, -difference), (1 - difference) / 2
    lost = minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    variance = 2 * lost + difference - difference**2
    if variance < 1e-4:
        return
    expected = (wins - losses - n * difference) / np.sqrt(n * variance)
    assert tango_statistic(wins, losses, n, difference) == pytest.approx(expected, rel=2e-2, abs=2e-2)
