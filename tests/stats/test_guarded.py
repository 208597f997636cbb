"""Bounds that allow for a rare extreme value, against the distributions they are quantiles of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from assay.stats import bootstrap, interval
from assay.stats.clusters import units
from assay.stats.guarded import CAVEAT, PSEUDO_MASS, guarded_bounds, mostly_one_value, pseudo_size

Z = interval.z_value(0.95)
# What the saddlepoint approximation makes of a tail of .025.
TAIL = (0.0235, 0.0265)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def bounds(values, clusters=None, **options):
    found = interval.mean(values, clusters, rng=rng(), bounds=(0, 1), **options).interval
    assert found is not None
    return found.low, found.high


@pytest.mark.parametrize("n", [5, 20, 100, 1_000, 100_000])
def test_of_equal_values_the_bound_is_a_beta_quantile(n):
    low, high = guarded_bounds(units(np.ones(n), np.ones(n)), size=1.0, c=Z)
    assert TAIL[0] < beta.cdf(low, n, PSEUDO_MASS) < TAIL[1]
    assert high == 1.0


@pytest.mark.parametrize("hits", [1, 5, 40])
def test_of_hits_and_misses_the_bounds_are_beta_quantiles(hits):
    values = np.array([1.0] * hits + [0.0] * (50 - hits))
    low, high = guarded_bounds(units(values, np.ones(50)), size=1.0, c=Z)
    assert TAIL[0] < beta.cdf(low, hits, 50 - hits + PSEUDO_MASS) < TAIL[1]
    assert TAIL[0] < beta.sf(high, hits + PSEUDO_MASS, 50 - hits) < TAIL[1]


@pytest.mark.parametrize("unequal", [False, True])
def test_the_bounds_are_quantiles_of_the_bayesian_bootstrap(unequal):
    random = np.random.default_rng(3)
    whole = random.integers(1, 30, 40).astype(float) if unequal else np.ones(40)
    part = whole * np.where(random.random(40) < 0.8, 1.0, random.random(40))
    found, size = units(part, whole), 5.0 if unequal else 1.0
    low, high = guarded_bounds(found, size=size, c=Z)
    weights = random.gamma(np.append(found.counts, PSEUDO_MASS), size=(200_000, len(found.counts) + 1))
    total = weights @ np.append(found.column(1), size)
    below = weights[:, :-1] @ found.column(0) / total
    above = 1 - weights[:, :-1] @ (found.column(1) - found.column(0)) / total
    assert TAIL[0] - 0.001 < np.mean(below <= low) < TAIL[1] + 0.001
    assert TAIL[0] - 0.001 < np.mean(above >= high) < TAIL[1] + 0.001


def test_putting_many_values_together_changes_nothing_that_matters(monkeypatch):
    values = np.where(rng().random(20_000) < 0.6, 1.0, rng().random(20_000))
    found = units(values, np.ones(20_000))
    few = guarded_bounds(found, size=1.0, c=Z)
    monkeypatch.setattr(bootstrap, "MOST_DISTINCT", 10**9)
    assert few == pytest.approx(guarded_bounds(found, size=1.0, c=Z), abs=1e-11)


def test_the_hull_is_never_narrower_than_the_score_interval():
    values = np.array([1.0] * 99 + [0.9])
    score = interval.ratio(values, np.ones(100)).interval
    low, high = bounds(values)
    assert low < score.low
    assert high >= score.high


def test_a_guarded_interval_says_so_and_needs_no_random_numbers():
    values = [1.0] * 30 + [0.4]
    found = interval.mean(values, rng=np.random.default_rng(1), bounds=(0, 1)).interval
    assert found == interval.mean(values, rng=np.random.default_rng(2), bounds=(0, 1)).interval
    assert (found.method, found.caveat) == ("guarded", CAVEAT)
    clustered = interval.mean(values, np.arange(31) // 4, rng=rng(), bounds=(0, 1)).interval
    assert clustered.caveat == f"few clusters; {CAVEAT}"


@pytest.mark.parametrize(
    ("values", "method"),
    [
        ([1.0, 1.0, 0.5, 0.3], "guarded"),
        ([1.0, 0.7, 0.5, 0.3], "wilson_effective"),
        ([0.5, 0.5, 0.1, 0.3], "guarded"),
        ([0.5, 0.5, 0.5], "guarded"),
        ([1.0, 1.0, 1.0, 0.0], "wilson"),
    ],
)
def test_the_guard_stands_where_half_of_the_rows_share_a_value_and_not_all_are_0_or_1(values, method):
    assert interval.mean(values, rng=rng(), bounds=(0, 1)).interval.method == method


def test_half_of_the_rows_not_of_the_clusters_must_share_a_value():
    values = np.array([1.0, 1.0, 1.0, 0.2, 0.4, 0.6])
    ids = np.array([0, 0, 0, 1, 2, 3])
    assert mostly_one_value(values, units(values, np.ones(6), clusters=ids))


def test_the_pseudo_observation_grows_with_what_rows_of_a_cluster_share():
    ids = np.repeat(np.arange(20), 4)
    alike = np.repeat(rng().choice([1.0, 0.5], size=20), 4)
    mixed = rng().choice([1.0, 0.5], size=80)
    sizes = [pseudo_size(values, ids, units(values, np.ones(80), clusters=ids)) for values in (alike, mixed)]
    assert sizes[0] == (4.0, True)
    assert 2.0 <= sizes[1][0] < 3.0
    assert not sizes[1][1]
    flat = np.concatenate([np.full(79, 0.5), [0.5]])
    uneven = np.minimum(np.arange(80), 70)
    size_of_a_row = (70 + 10**2) / 80
    assert pseudo_size(flat, uneven, units(flat, np.ones(80), clusters=uneven)) == (size_of_a_row, False)


@given(st.lists(st.sampled_from([1.0, 1.0, 1.0, 0.9, 0.5, 0.0]), min_size=2, max_size=40), st.integers(1, 4))
def test_the_bounds_hold_the_mean_and_copies_change_nothing(values, size):
    ids = np.arange(len(values)) // size
    low, high = bounds(values, ids)
    if low is None or ids[-1] == 0:  # one cluster has no interval
        return
    assert 0 <= low <= np.mean(values) <= high <= 1
    assert bounds(np.repeat(values, 5), np.repeat(ids, 5)) == pytest.approx((low, high), abs=1e-12)
    mirrored = bounds(1 - np.array(values), ids)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)
