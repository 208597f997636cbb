"""The order of options depends on content alone."""

from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from assay.judging.criteria import Criterion, CriterionOption
from assay.judging.shuffle import OrderKey, latin_row, option_order, scale_order, shown_orders


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_order_is_that_of_the_digests(scale):
    criterion = scale([0.0, 0.5, 1.0], labels=["low", "mid", "high"])
    asked = _sha("How good is it?\x1flow\x1fmid\x1fhigh")
    keys = [_sha("\x1f".join(["7", _sha("text"), asked, "judge", "0", str(place)])) for place in range(3)]
    expected = tuple(sorted(range(3), key=lambda place: keys[place]))
    assert option_order(criterion, seed=7, item="text", judge="judge") == expected


def test_seed_submission_criterion_judge_and_repeat_change_it_and_nothing_else_does(scale):
    values = [n / 9 for n in range(10)]
    criterion = scale(values)
    usual = option_order(criterion, seed=1, item="text", judge="a")
    assert usual == option_order(scale(values, weight=-3.0), seed=1, item="text", judge="a")
    assert usual == option_order(scale(values[::-1]), seed=1, item="text", judge="a")
    others = [
        option_order(criterion, seed=2, item="text", judge="a"),
        option_order(criterion, seed=1, item="text!", judge="a"),
        option_order(criterion, seed=1, item="text", judge="b"),
        option_order(criterion, seed=1, item="text", judge="a", repeat=1),
        option_order(scale(values, labels=list("abcdefghij")), seed=1, item="text", judge="a"),
    ]
    assert usual not in others
    assert len(set(others)) == len(others)


def test_every_option_comes_to_every_place_about_equally_often(scale):
    criterion = scale([0.0, 0.25, 0.5, 0.75, 1.0])
    first = Counter(option_order(criterion, seed=0, item=str(n), judge="a")[0] for n in range(1000))
    assert set(first) == set(range(5))
    assert all(140 < count < 260 for count in first.values())


def test_half_a_surrogate_pair_does_no_harm(scale):
    assert sorted(option_order(scale([0.0, 1.0]), seed=0, item="\ud800", judge="a")) == [0, 1]


@given(st.integers(2, 9), st.integers(0, 60), st.integers(0, 6))
def test_counterbalanced_rows_are_balanced_to_one_for_every_number_of_items_and_every_judge(size, items, rank):
    orders = [latin_row(size, row + rank) for row in range(items)]
    for place in range(size):
        counts = Counter(order[place] for order in orders)
        assert max(counts.values(), default=0) - min((counts[n] for n in range(size)), default=0) <= 1
    assert all(sorted(order) == list(range(size)) for order in orders)


def test_counterbalanced_judges_see_different_rows_and_what_was_added_to_abstain_stays_last(scale):
    criterion = scale([0.0, 0.5, 1.0])
    seen = criterion.with_abstention()
    orders = [
        shown_orders(criterion, seen, "counterbalanced", 0, OrderKey(item="t", row=4, judge=str(rank), rank=rank))
        for rank in range(3)
    ]
    assert orders == [((1, 2, 0, 3),), ((2, 0, 1, 3),), ((0, 1, 2, 3),)]
    declared = scale([0.0, None, 1.0])
    (order,) = shown_orders(declared, declared, "counterbalanced", 0, OrderKey(item="t", row=1, judge="a", rank=0))
    assert order == (1, 2, 0)


@given(st.integers(0, 2**32), st.integers(0, 500), st.sampled_from("abc"))
def test_of_two_neighbouring_items_one_sees_the_scale_upward_and_one_downward(seed, pair, judge):
    options = [CriterionOption(label=str(n), value=value) for n, value in enumerate((0.5, 0.0, 1.0))]
    criterion = Criterion(requirement="How good?", options=options).with_abstention()
    orders = {scale_order(criterion, seed=seed, row=row, judge=judge) for row in (2 * pair, 2 * pair + 1)}
    assert orders == {(1, 0, 2, 3), (2, 0, 1, 3)}


def test_which_direction_comes_first_differs_between_pairs(scale):
    first = Counter(scale_order(scale([0.0, 1.0]), seed=0, row=2 * pair, judge="a") for pair in range(200))
    assert all(70 < count < 130 for count in first.values())
    assert len(first) == 2


def test_direction_is_for_scales_and_other_options_are_shuffled(scale):
    nominal = scale([0.0, 0.5, 1.0], scale_type="nominal")
    key = OrderKey(item="text", row=3, judge="a", rank=0)
    assert shown_orders(nominal, nominal, "direction", 7, key) == shown_orders(nominal, nominal, "random", 7, key)


def test_both_orders_are_the_shuffle_and_its_reverse(scale):
    criterion = scale([0.0, 0.25, 0.5, 0.75, 1.0])
    key = OrderKey(item="text", row=3, judge="a", rank=0)
    usual = option_order(criterion, seed=7, item="text", judge="a")
    assert shown_orders(criterion, criterion, "both_orders", 7, key) == (usual, usual[::-1])
    assert shown_orders(criterion, criterion, "random", 7, key) == (usual,)
    assert shown_orders(criterion, criterion, None, 7, key) == ((0, 1, 2, 3, 4),)


def test_a_repeat_shows_the_options_in_another_order(scale):
    criterion = scale([0.0, 0.25, 0.5, 0.75, 1.0])

    def order(shuffle, repeat):
        key = OrderKey(item="text", row=4, judge="a", rank=0, repeat=repeat)
        return shown_orders(criterion, criterion, shuffle, 7, key)[0]

    assert order("random", 1) == option_order(criterion, seed=7, item="text", judge="a", repeat=1)
    assert order("random", 1) != order("random", 0)
    assert order("counterbalanced", 2) == latin_row(5, 6)
    assert order("direction", 1) == order("direction", 0)[::-1]
    assert order("direction", 2) == order("direction", 0)
