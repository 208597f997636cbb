from __future__ import annotations

import numpy as np
import pytest

from assay.stats.icc import intraclass

# Six targets and four judges: table 2 of Shrout and Fleiss (1979).
TABLE = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def some(n: int, raters: int = 3) -> np.ndarray:
    random = np.random.default_rng(2)
    return random.normal(size=(n, 1)) + np.arange(raters) / 4 + random.normal(size=(n, raters)) / 2


def test_the_table_of_shrout_and_fleiss() -> None:
    found = intraclass(TABLE)
    assert found.single.value == pytest.approx(0.29, abs=0.005)
    assert found.mean.value == pytest.approx(0.62, abs=0.005)
    # Mean squares of the same table: items 11.24, judges 32.49, error 1.02.
    assert found.single.value == pytest.approx((11.24 - 1.02) / (11.24 + 3 * 1.02 + 4 * (32.49 - 1.02) / 6), abs=5e-4)


def test_the_unit_and_the_origin_of_the_ratings_change_nothing() -> None:
    found, moved = intraclass(TABLE), intraclass(np.array(TABLE) * 1e-3 + 50)
    assert moved.single.value == pytest.approx(found.single.value)
    assert moved.single.interval is not None
    assert found.single.interval is not None
    assert moved.single.interval.low == pytest.approx(found.single.interval.low)


def test_the_mean_of_all_raters_is_better_than_one_and_so_are_its_bounds() -> None:
    found = intraclass(some(60))
    one, mean = found.single, found.mean
    assert one.interval is not None
    assert mean.interval is not None
    for low, high in ((one.value, mean.value), (one.interval.low, mean.interval.low)):
        assert low is not None
        assert high == pytest.approx(3 * low / (1 + 2 * low))
    assert mean.interval.low < mean.value < mean.interval.high  # type: ignore[operator]


def test_five_copies_of_each_item_with_its_cluster_change_no_interval() -> None:
    table = some(30)
    for clusters in (np.arange(30), np.arange(30) // 2):
        once = intraclass(table, clusters).single.interval
        five = intraclass(np.repeat(table, 5, axis=0), np.repeat(clusters, 5)).single.interval
        assert once is not None
        assert five is not None
        assert (five.low, five.high) == pytest.approx((once.low, once.high), abs=1e-12)


def test_items_that_a_rater_left_out_are_not_used_and_order_does_not_matter() -> None:
    table = some(30)
    gap = np.vstack([table, [[1.0, np.nan, 2.0]]])
    order = np.random.default_rng(1).permutation(31)
    assert intraclass(gap).single.n == 30
    assert intraclass(gap[order]) == intraclass(table)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.ones((6, 3)), "all ratings are equal"),
        (TABLE[:3], "needs at least 4 items that all raters rated"),
        (np.arange(6.0)[:, None], "needs at least 2 raters"),
    ],
)
def test_undefined_values_say_why(table: list[list[float]], reason: str) -> None:
    found = intraclass(table)
    assert (found.single.value, found.single.reason, found.mean.value) == (None, reason, None)


def test_perfect_agreement_has_no_interval_of_width_0() -> None:
    found = intraclass(np.repeat(np.arange(6.0)[:, None], 3, axis=1))
    assert found.single.value == pytest.approx(1.0)
    assert found.single.interval is not None
    assert (found.single.interval.low, found.single.interval.high) == (None, None)


def test_three_clusters_are_too_few_for_an_interval() -> None:
    found = intraclass(some(30), np.arange(30) % 3).single
    assert found.interval is not None
    assert (found.interval.low, found.interval.caveat) == (None, "needs at least 4 clusters")


def test_raters_who_contradict_each_other_have_no_common_mean() -> None:
    x = np.array([0.0, 1, 2, 3, 4, 5])
    found = intraclass(np.column_stack([x, 5 - x]))
    assert found.single.value is not None
    assert found.single.value < -0.9
    assert (found.mean.value, found.mean.reason) == (None, "the raters agree less than by chance")


@pytest.mark.parametrize(("apart", "said"), [(0.0, False), (2.0, False), (1000.0, True)])
def test_raters_on_scales_of_their_own_are_said_to_be(apart: float, said: bool) -> None:
    random = np.random.default_rng(4)
    table = random.integers(1, 6, size=(11, 2)) + np.array([0.0, apart])
    for found in (intraclass(table).single, intraclass(table, np.arange(11) // 2).mean):
        assert found.interval is not None
        assert ("levels lie so far apart" in (found.interval.caveat or "")) is said


def test_raters_on_scales_of_other_widths_are_said_to_be() -> None:
    table = np.arange(11)[:, None] * np.array([1.0, 100.0])
    found = intraclass(table).single
    assert found.interval is not None
    assert found.interval.caveat is not None
    assert "ten times as much" in found.interval.caveat


def test_a_rater_who_never_varies_has_no_interval_but_a_reason() -> None:
    found = intraclass(np.column_stack([np.arange(11) % 4, np.full(11, 2)])).single
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.interval is not None
    assert (found.interval.low, found.interval.caveat) == (None, "leaving out any pair changes nothing")
