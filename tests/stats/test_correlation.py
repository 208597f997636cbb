from __future__ import annotations

import numpy as np
import pytest

from assay.stats.bootstrap import t_value
from assay.stats.correlation import Name, correlation

NAMES: list[Name] = ["pearson", "spearman", "kendall"]


def ties(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    x = random.integers(0, 5, n).astype(float)
    return x, x + random.integers(0, 4, n)


@pytest.mark.parametrize("name", NAMES)
def test_the_interval_is_the_jackknife_on_fishers_z(name: Name) -> None:
    """Leaving out each pair in turn, in plain words, gives the same bounds as the shortcut."""
    x, y = ties(25)
    whole = correlation(x, y, name)
    left = [correlation(np.delete(x, i), np.delete(y, i), name).value for i in range(25)]
    z = np.arctanh(np.array(left, dtype=float))
    half = 2.0638985616280205 * np.sqrt(24 / 25 * np.sum((z - z.mean()) ** 2))
    assert whole.value is not None
    assert whole.interval is not None
    assert whole.interval.low == pytest.approx(np.tanh(np.arctanh(whole.value) - half), abs=1e-10)
    assert whole.interval.high == pytest.approx(np.tanh(np.arctanh(whole.value) + half), abs=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_three_pairs_are_too_few(name: Name) -> None:
    value = correlation([1, 2, 3], [1, 2, 4], name)
    assert (value.value, value.reason) == (None, "a correlation needs at least 4 pairs")


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_side_has_no_correlation(name: Name) -> None:
    assert correlation([1, 2, 3, 4], [5, 5, 5, 5], name).reason == "one side has equal values only"


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_correlation_has_no_interval_of_width_0(name: Name) -> None:
    value = correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], name)
    assert value.value == pytest.approx(1.0)
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (None, None)
    assert value.interval.caveat is not None


def test_a_correlation_that_hangs_on_one_pair_has_no_interval() -> None:
    value = correlation([0, 0, 0, 0, 1], [0, 1, 0, 1, 5])
    assert value.interval is not None
    assert value.interval.low is None


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_pairs_changes_nothing(name: Name) -> None:
    x, y = ties(40)
    order = np.random.default_rng(3).permutation(40)
    assert correlation(x, y, name) == correlation(x[order], y[order], name)


@pytest.mark.parametrize("name", NAMES)
def test_with_clusters_whole_clusters_are_left_out(name: Name) -> None:
    x, y = ties(30)
    clusters = np.random.default_rng(5).integers(0, 12, 30)
    groups = np.unique(clusters)
    whole = correlation(x, y, name, clusters)
    left = [correlation(x[clusters != g], y[clusters != g], name).value for g in groups]
    z, n = np.arctanh(np.array(left, dtype=float)), len(groups)
    half = t_value(0.95, n - 1) * np.sqrt((n - 1) / n * np.sum((z - z.mean()) ** 2))
    assert whole.value is not None
    assert whole.value == pytest.approx(correlation(x, y, name).value)
    assert whole.interval is not None
    assert whole.interval.low == pytest.approx(np.tanh(np.arctanh(whole.value) - half), abs=1e-10)
    assert whole.interval.high == pytest.approx(np.tanh(np.arctanh(whole.value) + half), abs=1e-10)
    assert whole.interval.clusters == n


@pytest.mark.parametrize("name", NAMES)
def test_five_copies_of_each_pair_with_its_cluster_change_no_interval(name: Name) -> None:
    x, y = ties(40)
    ids = np.arange(40)
    once = correlation(x, y, name, ids)
    alone = correlation(x, y, name)
    order = np.random.default_rng(3).permutation(200)
    five = correlation(*(np.repeat(part, 5)[order] for part in (x, y)), name, np.repeat(ids, 5)[order])
    assert once.interval is not None
    for other in (alone, five):
        assert other.value == pytest.approx(once.value, abs=1e-12)
        assert other.interval is not None
        assert other.interval.low == pytest.approx(once.interval.low, abs=1e-12)
        assert other.interval.high == pytest.approx(once.interval.high, abs=1e-12)
    assert once.interval.clusters is None
    assert five.interval is not None
    assert five.interval.clusters == 40


@pytest.mark.parametrize("name", NAMES)
def test_few_clusters_are_a_caveat_and_three_are_too_few(name: Name) -> None:
    x, y = ties(40)
    some = correlation(x, y, name, np.arange(40) % 6).interval
    few = correlation(x, y, name, np.arange(40) % 3)
    assert some is not None
    assert (some.clusters, some.caveat) == (6, "few clusters")
    assert few.value is not None
    assert few.interval is not None
    assert (few.interval.low, few.interval.caveat) == (None, "needs at least 4 clusters")


@pytest.mark.parametrize("name", NAMES)
def test_a_cluster_that_holds_all_the_variety_leaves_no_interval(name: Name) -> None:
    value = correlation([0, 1, 2, 3, 0, 0, 0, 0], [1, 0, 2, 3, 0, 0, 0, 0], name, np.array([0, 0, 0, 0, 1, 2, 3, 4]))
    assert value.interval is not None
    assert value.interval.low is None
