from __future__ import annotations

import time

import numpy as np
import pytest

from assay.stats.additive_stats import Macro, bootstrapped, macro, table_sums
from assay.stats.bayes import table_value
from assay.stats.classification import Pairs, kappa, matthews
from assay.stats.kappa import kappa_sums
from assay.stats.micro_macro import accuracy_sums


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def some(n: int, classes: int = 3, seed: int = 4) -> Pairs:
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, n)
    return Pairs(truth, np.where(random.random(n) < 0.8, truth, random.integers(0, classes, n)), classes)


def at(pairs: Pairs, ids: np.ndarray) -> Pairs:
    return Pairs(pairs.truth, pairs.predicted, pairs.classes, ids)


def width(found: Macro) -> float:
    assert found.value.interval is not None
    return found.value.interval.high - found.value.interval.low  # type: ignore[operator]


@pytest.mark.parametrize("statistic", [kappa, matthews])
def test_a_table_as_sums_has_the_value_and_nearly_the_interval_of_the_table(statistic) -> None:
    pairs = some(80)
    as_sums, as_table = (
        bootstrapped(table_sums(pairs, statistic), rng=rng()),
        table_value(pairs, statistic, rng=rng()),
    )
    assert as_sums.value == pytest.approx(as_table.value)
    assert as_sums.interval is not None
    assert as_table.interval is not None
    assert as_sums.interval.low == pytest.approx(as_table.interval.low, abs=0.01)
    assert as_sums.interval.high == pytest.approx(as_table.interval.high, abs=0.01)


def test_counted_rows_are_as_good_as_repeated_ones() -> None:
    truth, judge, counts = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([9, 2, 1, 8])
    counted = bootstrapped(table_sums(Pairs(truth, judge, 2, counts=counts), kappa), rng=rng())
    long = Pairs(np.repeat(truth, counts), np.repeat(judge, counts), 2)
    assert counted == bootstrapped(table_sums(long, kappa), rng=rng())


def test_the_mean_over_criteria_counts_only_those_where_it_is_defined() -> None:
    same = Pairs(np.zeros(30, int), np.zeros(30, int), 2)
    found = macro([kappa_sums(pairs) for pairs in (some(30), same, some(30, seed=5))], rng=rng())
    expected = np.mean([bootstrapped(kappa_sums(pairs), rng=rng()).value for pairs in (some(30), some(30, seed=5))])
    assert found.value.value == pytest.approx(expected)
    assert (found.defined, found.undefined, found.value.n) == (2, (1,), 30)


def test_a_mean_over_no_defined_criterion_is_none_with_a_reason() -> None:
    same = Pairs(np.zeros(30, int), np.zeros(30, int), 2)
    found = macro([kappa_sums(same)], rng=rng())
    assert (found.value.value, found.value.reason) == (None, "it is defined for no criterion")
    assert macro([], rng=rng()).defined == 0


def test_a_criterion_and_its_copy_are_no_more_certain_than_the_criterion() -> None:
    """Resampling by item sees that both speak of the same items; independent criteria do narrow the interval."""
    one = kappa_sums(some(200))
    single, twice = macro([one], rng=rng()), macro([one, one], rng=rng())
    apart = macro([one, kappa_sums(some(200, seed=9))], rng=rng())
    assert width(twice) == pytest.approx(width(single), rel=0.03)
    assert width(apart) < 0.8 * width(single)


def test_items_are_matched_by_id_and_in_any_order() -> None:
    pairs, other = some(60), some(60, seed=8)
    ids, order = np.arange(60), np.random.default_rng(2).permutation(60)
    moved = Pairs(other.truth[order], other.predicted[order], 3, ids[order])
    plain = macro([kappa_sums(pairs), kappa_sums(other)], rng=rng())
    assert macro([kappa_sums(at(pairs, ids)), kappa_sums(moved)], rng=rng()) == plain


def test_five_copies_of_each_pair_with_its_item_change_no_interval() -> None:
    ids = np.arange(40) // 2
    once = macro([accuracy_sums(at(some(40), ids)), accuracy_sums(at(some(40, seed=8), ids))], rng=rng())
    copies = [
        Pairs(np.repeat(p.truth, 5), np.repeat(p.predicted, 5), 3, np.repeat(ids, 5))
        for p in (some(40), some(40, seed=8))
    ]
    five = macro([accuracy_sums(pairs) for pairs in copies], rng=rng())
    assert once.value.interval is not None
    assert five.value.interval is not None
    assert five.value.interval.low == pytest.approx(once.value.interval.low, abs=1e-12)
    assert five.value.interval.high == pytest.approx(once.value.interval.high, abs=1e-12)
    assert once.value.interval.clusters == five.value.interval.clusters == 20


def test_criteria_of_different_items_need_ids() -> None:
    with pytest.raises(ValueError, match="ids"):
        macro([kappa_sums(some(30)), kappa_sums(some(31))], rng=rng())


def test_criteria_may_have_different_items() -> None:
    ids = np.arange(60)
    part = Pairs(some(60).truth[:40], some(60).predicted[:40], 3, ids[:40])
    found = macro([kappa_sums(at(some(60), ids)), kappa_sums(part)], rng=rng())
    assert found.defined == 2
    assert 0 < width(found) < 1


def test_too_many_classes_or_one_item_leave_the_interval_out_and_say_why() -> None:
    wide = Pairs(some(30).truth, some(30).predicted, 101)
    for pairs, why in [
        (wide, "more than 100 classes"),
        (at(some(9), np.zeros(9, int)), "needs at least 2 items"),
    ]:
        found = macro([kappa_sums(pairs)], rng=rng()).value
        assert found.value is not None
        assert found.interval is not None
        assert (found.interval.low, found.interval.caveat) == (None, why)
    alone = bootstrapped(kappa_sums(at(some(9), np.zeros(9, int))), rng=rng())
    assert alone.interval is not None
    assert alone.interval.caveat == "needs at least 2 clusters"


def test_four_criteria_of_ten_thousand_items_are_quick() -> None:
    criteria = [kappa_sums(some(10_000, 2, seed)) for seed in range(4)]
    start = time.process_time()
    macro(criteria, rng=rng())
    assert time.process_time() - start < 0.8
