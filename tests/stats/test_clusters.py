from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.clusters import units

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)


def test_equal_rows_are_counted_together_in_sorted_order() -> None:
    found = units([2.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    assert found.sums.tolist() == [[1.0, 1.0], [2.0, 1.0]]
    assert found.counts.tolist() == [1, 2]
    assert (found.n, found.rows, found.clusters, found.caveat) == (3, 3, None, None)


def test_rows_of_one_cluster_are_summed() -> None:
    found = units([1.0, 0.0, 1.0], [1.0, 1.0, 1.0], clusters=np.array([7, 7, 9]))
    assert found.sums.tolist() == [[1.0, 1.0], [1.0, 2.0]]
    assert (found.n, found.rows, found.clusters, found.caveat) == (2, 3, 2, "few clusters")


def test_ten_clusters_are_not_few() -> None:
    found = units(np.ones(20), clusters=np.repeat(np.arange(10), 2))
    assert (found.clusters, found.caveat) == (10, None)


def test_counts_stand_for_that_many_equal_rows() -> None:
    short = units([0.0, 1.0], counts=np.array([3, 2]))
    long = units([0.0, 1.0, 0.0, 1.0, 0.0])
    assert short.counts.tolist() == long.counts.tolist() == [3, 2]
    assert short.rows == long.rows == 5


def test_nothing_has_no_units() -> None:
    assert units([], clusters=np.array([], dtype=np.int64)).n == 0


@given(values, st.randoms())
def test_the_order_of_the_rows_changes_nothing(rows: list[float], random: object) -> None:
    clusters = np.arange(len(rows)) // 3
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    first = units(rows, clusters=clusters)
    second = units(np.array(rows)[order], clusters=clusters[order])
    assert first.sums.tolist() == second.sums.tolist()
    assert first.counts.tolist() == second.counts.tolist()


def test_minus_zero_is_zero() -> None:
    assert np.signbit(units([-0.0, 0.0]).sums).tolist() == [[False]]


def test_sums_that_differ_by_rounding_become_equal_when_divided() -> None:
    found = units([0.1 + 0.2, 0.3]).per(1.0)
    assert found.counts.tolist() == [2]
