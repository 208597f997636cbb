from __future__ import annotations

import time

import numpy as np
import pytest

from assay.stats import bayes
from assay.stats.bayes import resample, table_units, table_value
from assay.stats.classification import Pairs, Statistic, kappa, macro_f1, matthews


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def some(n: int, classes: int, agree: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    truth = random.integers(0, classes, n)
    return truth, np.where(random.random(n) < agree, truth, random.integers(0, classes, n))


@pytest.mark.parametrize("statistic", [kappa, matthews, macro_f1])
def test_a_perfect_table_has_a_width_and_holds_1(statistic: Statistic) -> None:
    codes = np.array([0, 1] * 15)
    value = table_value(Pairs(codes, codes, 2), statistic, rng=rng())
    assert value.value == 1.0
    assert value.interval is not None
    assert value.interval.low is not None
    assert 0.5 < value.interval.low < 0.95
    assert value.interval.high == 1.0
    assert value.interval.method == "bayesian_bootstrap"


def test_the_interval_narrows_with_more_samples() -> None:
    widths = []
    for n in (30, 300, 3_000):
        found = table_value(Pairs(*some(n, 3), 3), kappa, rng=rng()).interval
        assert found is not None
        widths.append(found.high - found.low)  # type: ignore[operator]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_a_large_table_gets_the_width_of_the_delta_method() -> None:
    truth, predicted = some(5_000, 2)
    found = table_value(Pairs(truth, predicted, 2), kappa, rng=rng()).interval
    assert found is not None
    share = np.mean(truth == predicted)
    # With even classes kappa is nearly 2 * share - 1.
    expected = 2 * 2 * 1.96 * np.sqrt(share * (1 - share) / 5_000)
    assert found.high - found.low == pytest.approx(expected, rel=0.05)  # type: ignore[operator]


def test_five_copies_of_each_row_with_its_cluster_change_nothing() -> None:
    truth, predicted = some(40, 3)
    for clusters in (np.arange(40), np.arange(40) // 3):
        once = table_value(Pairs(truth, predicted, 3, clusters), kappa, rng=rng()).interval
        five = [np.repeat(part, 5) for part in (truth, predicted, clusters)]
        copied = table_value(Pairs(five[0], five[1], 3, five[2]), kappa, rng=rng()).interval
        assert once is not None
        assert copied is not None
        assert copied.low == pytest.approx(once.low, abs=1e-12)
        assert copied.high == pytest.approx(once.high, abs=1e-12)


def test_rows_that_stand_for_themselves_are_their_own_clusters() -> None:
    truth, predicted = some(40, 3)
    alone = table_units(Pairs(truth, predicted, 3))
    single = table_units(Pairs(truth, predicted, 3, np.arange(40)))
    assert alone.sums.tolist() == single.sums.tolist()
    assert alone.counts.tolist() == single.counts.tolist()


def test_clusters_widen_the_interval() -> None:
    truth, predicted = some(60, 2)
    widths = []
    for clusters in (None, np.repeat(np.arange(60), 5)):
        five = [truth, predicted] if clusters is None else [np.repeat(truth, 5), np.repeat(predicted, 5)]
        found = table_value(Pairs(five[0], five[1], 2, clusters), kappa, rng=rng()).interval
        assert found is not None
        widths.append(found.high - found.low)  # type: ignore[operator]
    naive = table_value(Pairs(np.repeat(truth, 5), np.repeat(predicted, 5), 2), kappa, rng=rng()).interval
    assert naive is not None
    assert widths[0] == pytest.approx(widths[1], abs=1e-12)
    assert naive.high - naive.low < 0.6 * widths[1]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("truth", "predicted", "classes", "value", "caveat"),
    [
        ([0, 1], [0, 1], 101, 1.0, "more than 100 classes"),
        ([0], [1], 2, 0.0, "needs at least 2 independent samples"),
    ],
)
def test_where_no_interval_can_be_had_it_says_why(
    truth: list[int], predicted: list[int], classes: int, value: float, caveat: str
) -> None:
    found = table_value(Pairs(np.array(truth), np.array(predicted), classes), kappa, rng=rng())
    assert found.value == value
    assert found.interval is not None
    assert (found.interval.low, found.interval.high, found.interval.caveat) == (None, None, caveat)


def test_the_average_over_a_single_class_has_no_interval() -> None:
    found = table_value(Pairs(np.zeros(5, int), np.zeros(5, int), 1), macro_f1, rng=rng())
    assert found.value == 1.0
    assert found.interval is not None
    assert (found.interval.low, found.interval.caveat) == (None, "only one class")


@pytest.mark.parametrize(("n", "reason"), [(0, "no sample has a value"), (4, "truth or prediction has one class only")])
def test_undefined_values_say_why(n: int, reason: str) -> None:
    found = table_value(Pairs(np.zeros(n, int), np.zeros(n, int), 2), kappa, rng=rng())
    assert (found.value, found.interval, found.reason) == (None, None, reason)


def test_no_resample_is_undefined() -> None:
    truth = np.array([0] * 29 + [1])
    drawn = resample(table_units(Pairs(truth, np.zeros(30, int), 2)), 2, kappa, rng())
    assert np.all(np.isfinite(drawn))


def test_thepseudo_table_weigh_one_and_a_half_in_all_and_spread_evenly() -> None:
    sums = bayes.pseudo_table(20_000, 2, rng())
    hits, truth, predicted = np.split(sums, 3, axis=1)
    assert truth.sum(axis=1) == pytest.approx(predicted.sum(axis=1))
    assert truth.sum(axis=1).mean() == pytest.approx(1.5, abs=0.03)
    assert truth.sum(axis=1).var() == pytest.approx(1.5, abs=0.1)
    assert hits.mean(axis=0) == pytest.approx([0.375, 0.375], abs=0.02)
    # A Gamma(a) weight has the variance a.
    assert hits.var(axis=0) == pytest.approx([0.375, 0.375], abs=0.04)


def test_ten_thousand_draws_of_ten_thousand_samples_are_quick() -> None:
    pairs = Pairs(*some(10_000, 2), 2)
    start = time.process_time()
    table_value(pairs, kappa, rng=rng())
    assert time.process_time() - start < 0.8
