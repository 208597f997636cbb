from __future__ import annotations

import time

import numpy as np
import pytest

from assay.stats.alpha import Scale, krippendorffs_alpha
from assay.stats.ratings import Ratings
from assay.types import MetricValue

SCALES: list[Scale] = ["nominal", "ordinal", "interval"]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def bounds(value: MetricValue) -> tuple[float, float]:
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is not None
    return value.interval.low, value.interval.high


@pytest.mark.parametrize(("scale", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_textbook_example(scale: Scale, value: float, textbook: np.ndarray) -> None:
    found = krippendorffs_alpha(Ratings.of(textbook), scale, rng=rng())
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.n == 11
    low, high = bounds(found)
    assert low < value < high


@pytest.mark.parametrize("scale", SCALES)
def test_perfect_agreement_has_a_width(scale: Scale) -> None:
    table = np.repeat((np.arange(30) % 3)[:, None], 3, axis=1)
    found = krippendorffs_alpha(Ratings.of(table), scale, rng=rng())
    low, high = bounds(found)
    assert found.value == high == 1.0
    assert 0.7 < low < 0.99


@pytest.mark.parametrize("scale", SCALES)
def test_five_copies_with_their_clusters_change_no_interval(scale: Scale, textbook: np.ndarray) -> None:
    ids = np.arange(12)
    for clusters in (ids, ids // 2):
        once = krippendorffs_alpha(Ratings.of(textbook, clusters), scale, rng=rng())
        five = Ratings.of(np.repeat(textbook, 5, axis=0), np.repeat(clusters, 5))
        assert bounds(krippendorffs_alpha(five, scale, rng=rng())) == pytest.approx(bounds(once), abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_the_order_of_items_and_raters_changes_nothing(scale: Scale, textbook: np.ndarray) -> None:
    random = np.random.default_rng(3)
    moved = textbook[random.permutation(12)][:, random.permutation(4)]
    found = krippendorffs_alpha(Ratings.of(moved), scale, rng=rng())
    assert found == krippendorffs_alpha(Ratings.of(textbook), scale, rng=rng())


def test_items_with_one_rating_or_none_change_nothing(textbook: np.ndarray) -> None:
    alone = np.array([[np.nan, 1, np.nan, np.nan], [np.nan] * 4])
    ratings = Ratings.of(np.vstack([textbook, alone]))
    assert krippendorffs_alpha(ratings, rng=rng()) == krippendorffs_alpha(Ratings.of(textbook), rng=rng())


def test_equal_values_share_a_rank() -> None:
    codes = np.array([[0, 0], [1, 2], [3, 3], [0, 1], [3, 2]])
    tied = Ratings(codes=codes, values=np.array([0, 0.5, 0.5, 1]))
    merged = Ratings(codes=np.array([0, 1, 1, 2])[codes], values=np.array([0, 0.5, 1]))
    assert krippendorffs_alpha(tied, "ordinal", rng=rng()).value == pytest.approx(
        krippendorffs_alpha(merged, "ordinal", rng=rng()).value
    )
    assert krippendorffs_alpha(tied, rng=rng()).value != pytest.approx(
        krippendorffs_alpha(merged, rng=rng()).value, abs=0.01
    )


def test_options_rank_by_value_and_not_by_place(textbook: np.ndarray) -> None:
    plain = Ratings.of(textbook)
    turned = Ratings(codes=np.where(plain.codes < 0, -1, 4 - plain.codes), values=plain.values[::-1])
    for scale in SCALES:
        expected = krippendorffs_alpha(plain, scale, rng=rng()).value
        assert krippendorffs_alpha(turned, scale, rng=rng()).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1, 1], [1, 1], [1, 1]], "all ratings are equal"),
        ([[1, 2]], "needs at least 2 items"),
        ([[1, np.nan], [np.nan, 2], [2, np.nan]], "needs at least 2 items"),
        (np.zeros((0, 2)), "needs at least 2 items"),
    ],
)
@pytest.mark.parametrize("scale", SCALES)
def test_undefined_values_say_why(scale: Scale, table: list[list[float]], reason: str) -> None:
    found = krippendorffs_alpha(Ratings.of(table), scale, rng=rng())
    assert (found.value, found.interval, found.reason) == (None, None, reason)


def test_two_items_still_have_an_interval() -> None:
    low, high = bounds(krippendorffs_alpha(Ratings.of([[1, 2], [2, 2]]), rng=rng()))
    assert -1 <= low < high <= 1


def test_numbers_of_any_fineness_have_an_interval_on_the_interval_scale_only() -> None:
    random = np.random.default_rng(6)
    ratings = Ratings.of(random.normal(size=(200, 1)) + random.normal(size=(200, 3)) / 3)
    assert bounds(krippendorffs_alpha(ratings, "interval", rng=rng()))[0] > 0.8
    ordinal = krippendorffs_alpha(ratings, "ordinal", rng=rng())
    assert ordinal.interval is not None
    assert ordinal.interval.caveat == "more than 100 classes"
    # All ratings differ, so that ordinal alpha is the interval alpha of the ranks.
    ranks = Ratings(codes=ratings.codes, values=np.arange(600.0))
    assert ordinal.value == pytest.approx(krippendorffs_alpha(ranks, "interval", rng=rng()).value)


@pytest.mark.parametrize("scale", SCALES)
def test_ten_thousand_draws_of_ten_thousand_items_are_quick(scale: Scale) -> None:
    codes = np.random.default_rng(5).integers(0, 5, (10_000, 3))
    start = time.process_time()
    krippendorffs_alpha(Ratings(codes=codes, values=np.arange(5.0)), scale, rng=rng())
    assert time.process_time() - start < 0.8
