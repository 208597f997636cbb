"""The mean of group means: against formulas written out by hand, Welch's interval, and resampling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from assay.stats.macro import macro_mean, paired_macro


def by_hand(groups: dict[str, list[float]]) -> tuple[float, float, float]:
    """The mean of group means and its score interval, found by searching for the roots of the score statistic."""
    k = len(groups)
    means = {name: sum(values) / len(values) for name, values in groups.items()}
    m = sum(means.values()) / k
    parts = [
        (sum((x - means[name]) ** 2 for x in values) + m * (1 - m)) / (k * len(values)) ** 2
        for name, values in groups.items()
    ]
    freedom = sum(parts) ** 2 / sum(p**2 / len(v) for p, v in zip(parts, groups.values(), strict=True))
    c = float(stats.t.ppf(0.975, freedom))
    size = m * (1 - m) / sum(parts)

    def score(p: float) -> float:
        return (m - p) ** 2 - c**2 * p * (1 - p) / size

    return m, float(optimize.brentq(score, 0, m)), float(optimize.brentq(score, m, 1))


def flat(groups: dict[str, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    codes = [code for code, values in enumerate(groups.values()) for _ in values]
    return np.array([x for values in groups.values() for x in values]), np.array(codes)


@pytest.mark.parametrize(
    "groups",
    [
        {"a": [1, 1, 1, 0], "b": [1, 0]},
        {"a": [1.0] * 9 + [0.0], "b": [1.0, 0.0, 0.0], "c": [0.0] * 5},
        {"a": [1.0, 0.5, 0.25], "b": [0.75, 1.0, 1.0, 0.0], "c": [0.5]},
    ],
)
def test_values_in_a_range_have_the_score_interval_on_the_effective_size(groups):
    value = macro_mean(*flat(groups), bounds=(0, 1))
    assert value.interval.method == "wilson_macro"
    assert (value.value, value.interval.low, value.interval.high) == pytest.approx(by_hand(groups), abs=1e-9)
    scaled = macro_mean(10 * flat(groups)[0] - 5, flat(groups)[1], bounds=(-5, 5))
    assert scaled.interval.low == pytest.approx(10 * value.interval.low - 5)


def test_where_most_values_are_equal_the_bound_allows_for_a_rare_extreme_value():
    """The bound is a quantile of the Bayesian bootstrap with half a pseudo-observation at 0, drawn here at random."""
    values, groups = flat({"a": [1.0] * 29 + [0.9], "b": [1.0] * 30, "c": [1.0] * 29 + [0.8]})
    value = macro_mean(values, groups, bounds=(0, 1))
    rng = np.random.default_rng(6)
    weights = rng.exponential(size=(40_000, 90))
    draws = (weights @ values) / (weights.sum(axis=1) + rng.gamma(0.5, size=40_000))
    assert value.interval.method == "guarded_macro"
    assert value.interval.low == pytest.approx(np.quantile(draws, 0.025), abs=0.002)
    assert "few values differ" in value.interval.caveat
    assert macro_mean(np.round(values), groups, bounds=(0, 1)).interval.method == "wilson_macro"


def test_two_groups_without_a_range_have_welchs_interval():
    x, y = [3.0, 4.5, 7.0, 2.0, 9.0], [1.0, 1.5, 0.5]
    welch = stats.ttest_ind(x, np.negative(y), equal_var=False).confidence_interval(0.95)
    value = macro_mean(*flat({"x": x, "y": y}))
    assert value.interval.method == "t_macro"
    assert (value.interval.low, value.interval.high) == pytest.approx((welch.low / 2, welch.high / 2))


def test_every_group_counts_the_same_whatever_its_size_and_the_order_of_rows():
    values, groups = flat({"large": [1.0] * 500, "small": [0.0, 0.0]})
    value = macro_mean(values, groups)
    assert (value.value, value.n) == (0.5, 502)
    order = np.random.default_rng(1).permutation(502)
    assert macro_mean(values[order], groups[order]).interval == value.interval


def test_copies_in_the_same_cluster_change_nothing():
    rng = np.random.default_rng(2)
    values, groups, ids = rng.random(60), np.repeat(np.arange(6), 10), np.repeat(np.arange(20), 3)
    for bounds in ((0, 1), None):
        once = macro_mean(values, groups, ids, bounds=bounds).interval
        copied = macro_mean(*(np.tile(column, 5) for column in (values, groups, ids)), bounds=bounds).interval
        assert (copied.low, copied.high) == pytest.approx((once.low, once.high), abs=1e-12)
        assert copied.clusters == once.clusters == 20


def test_clusters_across_groups_widen_the_interval():
    rng = np.random.default_rng(3)
    shared = np.repeat(rng.normal(0.5, 0.1, 40), 4)
    groups = np.tile(np.arange(4), 40)
    plain, joined = (macro_mean(shared, groups, ids).interval for ids in (None, np.repeat(np.arange(40), 4)))
    assert joined.high - joined.low > 1.8 * (plain.high - plain.low), "four copies of one value are no four values"


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
def test_equal_values_leave_a_width(values):
    interval = macro_mean(values, np.array([0, 0, 1, 1])).interval
    assert interval.high - interval.low > 0.3
    assert interval.low <= values[0] <= interval.high


def test_what_cannot_be_computed_has_a_reason():
    assert macro_mean([], np.array([], dtype=int)).reason == "no sample has a value"
    alone = macro_mean([3.0, 4.0, 9.0], np.array([0, 0, 1])).interval
    assert alone.low is None
    assert alone.caveat == "1 of 2 groups have one value only, and the field has no range"
    one = macro_mean([1.0, 0.0, 1.0], np.array([0, 0, 1]), np.zeros(3, dtype=int)).interval
    assert one.low is None
    assert "one cluster" in one.caveat


def test_a_difference_is_the_mean_of_the_groups_mean_differences():
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1, 2], [200, 60, 40])
    before = (rng.random(300) < 0.6).astype(float)
    after = np.where(rng.random(300) < 0.25, 1.0, before)
    compared = paired_macro((before, after), groups, rng=rng, bounds=(0, 1))
    expected = np.mean([(after - before)[groups == code].mean() for code in range(3)])
    assert compared.difference.value == pytest.approx(expected)
    draws = []
    for _ in range(3_000):
        rows = np.concatenate([rng.choice(np.flatnonzero(groups == code), (groups == code).sum()) for code in range(3)])
        draws.append(np.mean([(after - before)[rows][groups == code].mean() for code in range(3)]))
    low, high = np.quantile(draws, [0.025, 0.975])
    interval = compared.difference.interval
    assert interval.low == pytest.approx(low, abs=0.02)
    assert interval.high == pytest.approx(high, abs=0.02)
    assert compared.p < 0.001
    assert (compared.wins, compared.losses) == (int((after > before).sum()), 0)


def test_a_difference_in_the_other_direction_is_the_mirror_image():
    rng = np.random.default_rng(5)
    sides, groups = (rng.random(50), rng.random(50)), np.repeat(np.arange(5), 10)
    forth = paired_macro(sides, groups, rng=np.random.default_rng(1), bounds=(0, 1))
    back = paired_macro(sides[::-1], groups, rng=np.random.default_rng(1), bounds=(0, 1))
    assert back.difference.interval.low == pytest.approx(-forth.difference.interval.high)
    assert back.p == pytest.approx(forth.p, abs=0.02)
    assert math.isclose(back.difference.value, -forth.difference.value)
