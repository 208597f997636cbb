from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from assay.stats.classification import Pairs
from assay.stats.fleiss import fleiss_kappa, gwets_ac, scotts_pi
from assay.stats.ratings import Ratings
from assay.types import MetricValue

Number = Callable[[Ratings], MetricValue]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def fleiss(ratings: Ratings) -> MetricValue:
    return fleiss_kappa(ratings, rng=rng())


def ac1(ratings: Ratings) -> MetricValue:
    return gwets_ac(ratings, rng=rng())


def ac2(ratings: Ratings) -> MetricValue:
    return gwets_ac(ratings, "quadratic", rng=rng())


def bounds(value: MetricValue) -> tuple[float, float]:
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is not None
    return value.interval.low, value.interval.high


@pytest.mark.parametrize(("number", "value"), [(fleiss, 0.7612), (ac1, 0.7754)])
def test_the_textbook_example(number: Number, value: float, textbook: np.ndarray) -> None:
    found = number(Ratings.of(textbook))
    assert found.value == pytest.approx(value, abs=5e-5)
    low, high = bounds(found)
    assert low < value < high


def test_ac2_by_hand() -> None:
    """Three options at 0, .5 and 1; items (0, 0), (0, .5), (1, 1) and (1, 0), squared distances.

    Agreement (1 + .75 + 1 + 0) / 4 = .6875. Shares .5, .125, .375; the weights sum to 3 + 4 * .75 = 6, so chance is
    6 / (3 * 2) * (.25 + .109375 + .234375) = .59375, and AC2 = (.6875 - .59375) / (1 - .59375).
    """
    codes = np.array([[0, 0], [0, 1], [2, 2], [2, 0]])
    found = ac2(Ratings(codes=codes, values=np.array([0, 0.5, 1])))
    assert found.value == pytest.approx(0.09375 / 0.40625)


@pytest.mark.parametrize("number", [fleiss, ac1, ac2])
def test_perfect_agreement_has_a_width(number: Number) -> None:
    table = np.repeat((np.arange(30) % 3)[:, None], 3, axis=1)
    low, high = bounds(number(Ratings.of(table)))
    assert 0.7 < low < 0.999
    assert high == 1.0


@pytest.mark.parametrize("number", [fleiss, ac1, ac2])
def test_five_copies_with_their_clusters_and_any_order_change_nothing(number: Number, textbook: np.ndarray) -> None:
    ids = np.arange(12)
    for clusters in (ids, ids // 2):
        once = number(Ratings.of(textbook, clusters))
        order = np.random.default_rng(3).permutation(60)
        five = Ratings.of(np.repeat(textbook, 5, axis=0)[order], np.repeat(clusters, 5)[order])
        assert bounds(number(five)) == pytest.approx(bounds(once), abs=1e-12)


def test_ac1_is_defined_where_all_choose_one_option_and_fleiss_is_not() -> None:
    ratings = Ratings(codes=np.zeros((20, 3), int), values=np.array([0.0, 1.0]))
    assert ac1(ratings).value == 1.0
    assert bounds(ac1(ratings))[0] < 1
    assert (fleiss(ratings).value, fleiss(ratings).reason) == (None, "only one option occurs")


@pytest.mark.parametrize("number", [fleiss, ac1, ac2])
def test_undefined_values_say_why(number: Number) -> None:
    n = np.nan
    for table, reason in [
        ([[1, n], [n, 2]], "no item has two votes"),
        ([[1, 2]], "needs at least 2 items"),
        ([[n, n]], "needs at least 2 items"),
    ]:
        found = number(Ratings.of(table))
        assert (found.value, found.reason) == (None, reason)


def test_a_scale_of_one_option_has_no_ac1() -> None:
    assert ac1(Ratings.of([[1, 1], [1, 1]])).value is None


def test_an_item_with_one_vote_counts_for_the_shares_only() -> None:
    table = [[1, 1], [2, 2], [1, 2]]
    more = [*table, [2, np.nan]]
    # Observed agreement stays 2/3; the share of option 2 rises from 1/2 to 5/8.
    chance = (3 / 8) ** 2 + (5 / 8) ** 2
    assert fleiss(Ratings.of(more)).value == pytest.approx((2 / 3 - chance) / (1 - chance))


def test_scotts_pi_is_fleiss_of_two_raters() -> None:
    truth, judge, counts = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([20, 5, 10, 15])
    found = scotts_pi(Pairs(truth, judge, 2, counts=counts), rng=rng())
    # Shares .55 and .45: chance .505, observed .7.
    assert found.value == pytest.approx((0.7 - 0.505) / 0.495)
    long = Ratings(codes=np.repeat(np.column_stack([truth, judge]), counts, axis=0), values=np.arange(2.0))
    assert found == fleiss(long)


@pytest.mark.parametrize("number", [fleiss, ac1, ac2])
def test_ten_thousand_draws_of_ten_thousand_items_are_quick(number: Number) -> None:
    codes = np.random.default_rng(5).integers(0, 5, (10_000, 3))
    start = time.process_time()
    number(Ratings(codes=codes, values=np.arange(5.0)))
    assert time.process_time() - start < 0.5


def by_hand(table: np.ndarray) -> tuple[float, float]:
    """Fleiss' kappa and AC1 written out: loops over items and pairs of votes, with gaps."""
    options = np.unique(table[~np.isnan(table)])
    shares, agreeing = [], []
    for row in table:
        votes = row[~np.isnan(row)]
        if len(votes):
            shares.append([float(np.mean(votes == option)) for option in options])
        if len(votes) > 1:
            pairs = [a == b for i, a in enumerate(votes) for j, b in enumerate(votes) if i != j]
            agreeing.append(sum(pairs) / len(pairs))
    share, seen = np.mean(shares, axis=0), float(np.mean(agreeing))
    fleiss_chance = float((share**2).sum())
    gwet_chance = float((share * (1 - share)).sum()) / (len(options) - 1)
    return (seen - fleiss_chance) / (1 - fleiss_chance), (seen - gwet_chance) / (1 - gwet_chance)


@pytest.mark.parametrize("seed", range(20))
def test_votes_with_gaps_are_counted_as_by_hand(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, 3, size=(15, 2 + seed % 3)).astype(float)
    table[random.random(table.shape) < 0.4] = np.nan
    table[:2] = [[0] * table.shape[1], [1, 2, *[1] * (table.shape[1] - 2)]]
    expected = by_hand(table)
    assert fleiss(Ratings.of(table)).value == pytest.approx(expected[0])
    assert ac1(Ratings.of(table)).value == pytest.approx(expected[1])


def test_a_value_below_minus_1_is_true_of_votes_with_gaps_and_says_why() -> None:
    gaps = np.array([[1, 2], [2, 1], [1, 2], *[[1, np.nan]] * 8])
    found = fleiss(Ratings.of(gaps))
    assert found.value == pytest.approx(by_hand(gaps)[0])
    assert found.value == pytest.approx(-3.2456, abs=5e-5)
    assert found.interval is not None
    assert (
        found.interval.caveat
        == "below -1: 8 items with one vote count for the options' shares, but cannot agree or disagree"
    )
    whole = fleiss(Ratings.of(np.array([[1, 2], [2, 1]] * 5)))
    assert whole.value == -1.0
    assert bounds(whole)[0] >= -1
    assert whole.interval is not None
    assert whole.interval.caveat is None


def test_weighted_agreement_below_minus_1_says_why_without_gaps_too() -> None:
    table = np.column_stack([np.arange(11) % 4, 1000 + np.arange(11) % 3])
    found = ac2(Ratings.of(table))
    assert found.value is not None
    assert found.value < -1
    assert found.interval is not None
    assert found.interval.caveat == "below -1: agreement is rarer than by chance, which alone gives more than half"
