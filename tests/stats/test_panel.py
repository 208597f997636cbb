from __future__ import annotations

import numpy as np
import pytest

from assay.stats.alpha import krippendorffs_alpha
from assay.stats.kappa import cohens_kappa
from assay.stats.panel import (
    constant_criteria,
    effective_judges,
    leave_one_out,
    pairwise_kappas,
    panel_agreement,
    redundant_criteria,
)
from assay.stats.ratings import Ratings


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def correlated(r: float, judges: int, n: int = 400) -> np.ndarray:
    random = np.random.default_rng(3)
    return np.sqrt(r) * random.normal(size=(n, 1)) + np.sqrt(1 - r) * random.normal(size=(n, judges))


def test_agreement_of_a_panel_is_the_share_of_agreeing_pairs_of_votes(textbook: np.ndarray) -> None:
    found = panel_agreement(Ratings.of(textbook))
    # Eight of the eleven items with two votes agree fully; the others have the votes 2232, 1234 and 1121.
    assert found.value == pytest.approx((8 + 0.5 + 0 + 0.5) / 11)
    assert found.n == 11
    assert panel_agreement(Ratings.of([[1, np.nan]])).reason == "no item has two votes"


def test_every_two_raters_have_a_kappa_on_what_both_rated(textbook: np.ndarray) -> None:
    ratings = Ratings.of(textbook)
    found = pairwise_kappas(ratings, "quadratic", rng=rng())
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for pair in found:
        expected = cohens_kappa(ratings.pair(pair.first, pair.second), ratings.values, "quadratic", rng=rng())
        assert pair.value.value == expected.value
        assert pair.value.n == expected.n


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
def test_kappas_of_pairs_without_intervals_have_the_same_values_and_reasons(weighting) -> None:
    random = np.random.default_rng(5)
    table = random.integers(1, 4, (30, 6)).astype(float)
    table[random.random(table.shape) < 0.2] = np.nan
    table[:, 4] = np.nan
    table[:, 5] = 2
    ratings = Ratings.of(table)
    for plain, full in zip(
        pairwise_kappas(ratings, weighting, rng=None), pairwise_kappas(ratings, weighting, rng=rng()), strict=True
    ):
        assert (plain.first, plain.second, plain.value.n) == (full.first, full.second, full.value.n)
        assert plain.value.reason == full.value.reason
        assert plain.value.value == (None if full.value.value is None else pytest.approx(full.value.value, abs=1e-14))


def test_agreement_rises_without_the_judge_who_guesses() -> None:
    random = np.random.default_rng(2)
    codes = np.repeat(random.integers(0, 3, (60, 1)), 3, axis=1)
    codes[:, 1] = random.integers(0, 3, 60)
    ratings = Ratings(codes=codes, values=np.arange(3.0))
    found = leave_one_out(ratings, lambda rest: krippendorffs_alpha(rest, rng=rng()))
    assert [value.value == 1.0 for value in found] == [False, True, False]


@pytest.mark.parametrize(("r", "judges"), [(0.5, 3), (0.2, 5), (0.8, 9)])
def test_dependent_judges_say_as_much_as_fewer_independent_ones(r: float, judges: int) -> None:
    """The variance of the panel's mean is that of so many independent judges."""
    votes = correlated(r, judges, 4_000)
    found = effective_judges(votes)
    assert found.value == pytest.approx(judges / (1 + (judges - 1) * r), rel=0.05)
    assert found.value == pytest.approx(votes.var(axis=0).mean() / votes.mean(axis=1).var(), rel=0.02)
    assert found.value < 1 / r
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high  # type: ignore[operator]


def test_five_copies_with_their_clusters_change_no_interval_of_effective_judges() -> None:
    votes = correlated(0.5, 3, 40)
    votes[::7, 1] = np.nan
    once = effective_judges(votes, np.arange(40))
    five = effective_judges(np.repeat(votes, 5, axis=0), np.repeat(np.arange(40), 5))
    assert once.interval is not None
    assert five.interval is not None
    assert five.value == pytest.approx(once.value)
    assert (five.interval.low, five.interval.high) == pytest.approx((once.interval.low, once.interval.high), abs=1e-12)
    assert once.interval.low == pytest.approx(effective_judges(votes).interval.low)  # type: ignore[union-attr]


def test_a_judge_who_never_varies_is_left_out_and_two_of_them_say_nothing() -> None:
    votes = np.column_stack([correlated(0.5, 2, 40), np.ones(40)])
    found = effective_judges(votes)
    r = float(np.corrcoef(votes[:, 0], votes[:, 1])[0, 1])
    assert found.value == pytest.approx(3 / (1 + 2 * r))
    assert effective_judges(votes[:, 1:]).reason == "no two judges vary on 4 shared items"


def test_judges_who_contradict_each_other_have_no_effective_number() -> None:
    x = np.arange(6.0)
    assert effective_judges(np.column_stack([x, -x])).reason == "the judges contradict each other"


def test_identical_judges_are_one_and_few_clusters_have_no_interval() -> None:
    x = np.arange(8.0)
    found = effective_judges(np.column_stack([x, x, x]))
    assert found.value == pytest.approx(1.0)
    assert found.interval is not None
    assert found.interval.low is None
    few = effective_judges(correlated(0.5, 2, 9), np.arange(9) % 3).interval
    assert few is not None
    assert few.caveat == "needs at least 4 clusters"


def test_criteria_that_never_vary_are_named() -> None:
    n = np.nan
    assert constant_criteria([[1, 0, n, n], [1, 1, 0.5, n], [n, 0, 0.5, n]]) == (0, 2)


def test_redundant_criteria_are_named_either_way_and_the_strongest_first() -> None:
    random = np.random.default_rng(4)
    x = random.normal(size=50)
    table = np.column_stack([x, random.normal(size=50), -x, x + random.normal(size=50) / 10, np.ones(50)])
    table[0, 3] = np.nan
    found = redundant_criteria(table, np.arange(50), name="pearson")
    assert [(pair.first, pair.second) for pair in found] == [(0, 2), (0, 3), (2, 3)]
    assert found[0].value.value == pytest.approx(-1.0)
    assert found[1].value.n == 49
    assert redundant_criteria(table, threshold=1.0) == ()


def test_a_large_panel_has_the_numbers_of_a_plain_count() -> None:
    """Every pair of 40 judges with gaps, counted item by item, and the correlations as numpy computes them."""
    random = np.random.default_rng(11)
    level = random.integers(0, 4, (120, 1))
    table = np.where(random.random((120, 40)) < 0.5, level, random.integers(0, 4, (120, 40))).astype(float)
    table[random.random(table.shape) < 0.1] = np.nan
    kappas = pairwise_kappas(Ratings.of(table), rng=None)
    assert len(kappas) == 40 * 39 // 2
    correlations = []
    for pair in kappas:
        shared = [
            (x, y)
            for x, y in zip(table[:, pair.first].tolist(), table[:, pair.second].tolist(), strict=True)
            if x == x and y == y  # NaN is the only number that differs from itself
        ]
        n = len(shared)
        observed = sum(x == y for x, y in shared) / n
        by_chance = sum(
            sum(x == option for x, _ in shared) * sum(y == option for _, y in shared) for option in range(4)
        )
        expected = by_chance / n**2
        assert pair.value.n == n
        assert pair.value.value == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)
        correlations.append(np.corrcoef(np.array(shared).T)[0, 1])
    mean = float(np.mean(correlations))
    assert effective_judges(table).value == pytest.approx(40 / (1 + 39 * mean), rel=1e-12)
    agreeing = []
    for row in table.tolist():
        votes = [vote for vote in row if vote == vote]
        same = sum(votes.count(vote) - 1 for vote in votes)
        agreeing.append(same / (len(votes) * (len(votes) - 1)))
    assert panel_agreement(Ratings.of(table)).value == pytest.approx(float(np.mean(agreeing)), rel=1e-12)
