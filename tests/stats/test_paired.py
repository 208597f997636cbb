"""Two runs over the same items: what the difference is, how sure, and how surprising."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.guarded import CAVEAT
from assay.stats.interval import z_value
from assay.stats.paired import (
    Paired,
    items_to_decide,
    mcnemar,
    paired,
    tango_interval,
    tango_statistic,
    verdict,
)

bits = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60)
grades = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=40)


def both(before, after, **options) -> Paired:
    return paired(before, after, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize(
    ("wins", "losses", "p"), [(548, 519, 0.3914), (640, 555, 0.01507), (655, 589, 0.0653), (675, 593, 0.02289)]
)
def test_mcnemar_gives_the_published_chances(wins, losses, p):
    assert mcnemar(wins, losses) == pytest.approx(p, rel=5e-3)
    assert mcnemar(losses, wins) == mcnemar(wins, losses)


def test_nothing_flipped_is_certain_to_be_luck():
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(7, 7) == 1.0


@pytest.mark.parametrize("n", [1, 5, 96, 10_000])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_where_nothing_flipped_the_interval_has_its_closed_form(n, level):
    half = z_value(level) ** 2 / (n + z_value(level) ** 2)
    found = tango_interval(0, 0, n, level=level)
    assert (found.low, found.high) == pytest.approx((-half, half), abs=1e-12)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 100), st.sampled_from([0.8, 0.95]))
def test_at_its_bounds_the_score_statistic_is_the_quantile(wins, losses, ties, level):
    n = wins + losses + ties
    if n == 0:
        return
    found = tango_interval(wins, losses, n, level=level)
    assert -1 <= found.low <= (wins - losses) / n <= found.high <= 1
    for bound, sign in ((found.low, 1), (found.high, -1)):
        if abs(bound) < 1:
            assert tango_statistic(wins, losses, n, bound) == pytest.approx(sign * z_value(level), abs=1e-5)


@given(bits)
def test_swapping_the_runs_flips_the_sign_and_nothing_else(rows):
    before, after = np.array(rows).T
    there, back = both(before, after), both(after, before)
    assert there.difference.value == -back.difference.value
    assert (there.difference.interval.low, there.difference.interval.high) == (
        -back.difference.interval.high,
        -back.difference.interval.low,
    )
    assert (there.p, there.wins, there.ties) == (back.p, back.losses, back.ties)


@given(grades)
def test_swapping_graded_runs_flips_the_sign_too(rows):
    before, after = np.array(rows).T / 8
    there, back = both(before, after, bounds=(0, 1)), both(after, before, bounds=(0, 1))
    assert there.difference.value == pytest.approx(-back.difference.value, abs=1e-12)
    assert there.difference.interval.low == pytest.approx(-back.difference.interval.high, abs=1e-9)
    assert there.p == pytest.approx(back.p, abs=0.02)


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 1], [0.2, 0.5, 0.5, 1.0]])
def test_a_run_with_itself_differs_by_exactly_nothing(values):
    found = both(values, values, bounds=(0, 1))
    assert (found.difference.value, found.p, found.wins, found.losses) == (0.0, 1.0, 0, 0)
    assert found.difference.interval.low < 0 < found.difference.interval.high
    assert verdict(found, found.p) == "no clear difference"


def test_graded_values_take_t_and_random_signs():
    found = both([0.1, 0.4, 0.5, 0.9, 0.3, 0.2], [0.2, 0.4, 0.7, 0.8, 0.6, 0.4])
    assert (found.difference.interval.method, found.test) == ("t", "sign_flip")
    # of the 32 sign patterns of .1, .2, .1, .3, .2 six reach .7 either way
    assert found.p == pytest.approx(6 / 32, abs=0.02)


def test_clusters_of_0_and_1_are_not_independent_flips():
    before, after = [0] * 20, [1] * 10 + [0] * 10
    ids = np.repeat([0, 1, 2, 3], 5)
    alone, together = both(before, after), both(before, after, clusters=ids)
    assert (alone.test, together.test) == ("mcnemar_exact", "mcnemar_exact")
    assert alone.p < 0.01 < 0.4 < together.p
    assert together.difference.interval.clusters == 4
    assert together.difference.interval.caveat == "few clusters"
    assert together.share_squared > alone.share_squared
    mixed = both(before, [0] * 4 + after[4:], clusters=ids)
    assert (mixed.test, mixed.difference.interval.method) == ("sign_flip", "guarded")
    assert mixed.unguarded.method == "t"
    assert mixed.difference.interval.clusters == 4


@settings(max_examples=30)
@given(grades)
def test_copying_every_row_with_its_cluster_changes_nothing(rows):
    before, after = np.array(rows).T / 8
    ids = np.arange(len(before))
    once = both(before, after, clusters=ids, bounds=(0, 1))
    often = both(*(np.repeat(side, 5) for side in (before, after)), clusters=np.repeat(ids, 5), bounds=(0, 1))
    assert often.difference.value == pytest.approx(once.difference.value, abs=1e-12)
    assert often.difference.interval.low == pytest.approx(once.difference.interval.low, abs=1e-12)
    assert often.difference.interval.high == pytest.approx(once.difference.interval.high, abs=1e-12)
    assert often.p == pytest.approx(once.p, abs=0.02)


def test_a_small_steady_shift_is_found_by_pairs_and_missed_without_them():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(3)
    before = rng.uniform(0, 0.9, 200)
    after = before + rng.normal(0.02, 0.04, 200)
    found = both(before, after)
    assert found.p < 1e-6
    assert ttest_ind(before, after).pvalue > 0.3
    assert verdict(found, found.p) == "better"


def test_no_chance_is_smaller_than_that_of_one_sign_pattern():
    """Twenty equal steps upwards: t would call that impossible, the signs alone say two in 2^20."""
    before = np.linspace(0, 0.5, 20)
    found = both(before, before + 0.25, bounds=(0, 1))
    assert found.p == 2.0**-19
    assert found.difference.interval.method == "no_spread"


def test_one_cluster_or_one_item_has_no_interval_and_says_why():
    alone = both([0.5], [0.7])
    assert (alone.difference.value, alone.p, alone.n) == (None, None, 1)
    assert "at least 2" in alone.difference.reason
    one = both([0.5, 0.1], [0.7, 0.2], clusters=np.array([4, 4]))
    assert one.difference.interval.caveat == "no interval can be computed: all values come from one cluster"
    assert verdict(one, one.p) == "no clear difference"
    still = both([0.5, 0.5], [0.5, 0.5])
    assert "no declared range" in still.difference.interval.caveat


def made(share, n=400):
    """n items of which some more were won than lost."""
    wins, losses = 40 + round(share * n), 40
    after = [1] * wins + [0] * (n - wins)
    before = [0] * wins + [1] * losses + [0] * (n - wins - losses)
    return both(before, after)


@pytest.mark.parametrize(
    ("share", "p", "margin", "words"),
    [
        (0.10, 0.001, None, "better"),
        (0.10, 0.06, None, "no clear difference"),
        (0.0, 1.0, None, "no clear difference"),
        (0.10, 0.001, 0.01, "better"),
        (0.0, 1.0, 0.05, "equivalent"),
        (0.0, 1.0, 0.02, "undecided"),
        (0.10, 0.001, 0.2, "equivalent"),
        (0.10, None, None, "no clear difference"),
    ],
)
def test_the_words_need_the_interval_and_the_adjusted_chance(share, p, margin, words):
    assert verdict(made(share), p, margin=margin) == words


def test_worse_is_better_the_other_way():
    found = both([1] * 12, [0] * 12)
    assert verdict(found, found.p) == "worse"


def test_the_items_that_would_decide_follow_the_formula():
    psi, d = 0.2, 0.05
    exact = (1.959964 * math.sqrt(psi) + 0.841621 * math.sqrt(psi - d**2)) ** 2 / d**2
    assert items_to_decide(psi, d) == math.ceil(exact)
    assert items_to_decide(psi, -d) == items_to_decide(psi, d)
    assert items_to_decide(psi, d, power=0.9) > items_to_decide(psi, d)
    assert items_to_decide(0.0, 0.05) is None
    assert items_to_decide(0.2, 0.0) is None
    assert items_to_decide(0.001, 0.05) == math.ceil(1.959964**2)


@settings(max_examples=30)
@given(grades, st.randoms(use_true_random=False))
def test_the_order_of_the_items_does_not_matter(rows, random):
    before, after = np.array(rows).T / 8
    order = list(range(len(rows)))
    random.shuffle(order)
    ids = np.arange(len(rows)) % 3
    for clusters in (None, ids):
        moved = None if clusters is None else clusters[order]
        one = both(before, after, clusters=clusters, bounds=(0, 1))
        other = both(before[order], after[order], clusters=moved, bounds=(0, 1))
        assert other.difference == one.difference
        assert (other.p, other.test) == (one.p, one.test)


def rare_loss(n=100):
    """A tenth of the items gains .1; the loss of a whole point in one of a hundred was not drawn."""
    after = np.full(n, 0.5)
    after[: n // 10] += 0.1
    return both(np.full(n, 0.5), after, bounds=(0, 1))


def test_small_gains_among_ties_are_not_clear_while_one_unseen_loss_could_undo_them():
    found = rare_loss()
    assert found.p < 0.05
    assert found.unguarded.method == "t"
    assert found.unguarded.low > 0 > found.difference.interval.low
    assert (found.difference.interval.method, found.narrow.method) == ("guarded", "guarded")
    assert found.difference.interval.caveat == CAVEAT
    assert verdict(found, found.p) == "no clear difference"
    assert found.clear_but_for_guard(found.p)
    assert not found.clear_but_for_guard(0.2)
    assert found.cancelled_by_one_in == 101


def test_the_guard_needs_ties_in_half_of_the_items_and_a_declared_range():
    before, after = np.full(20, 0.5), np.full(20, 0.5)
    after[:10] = np.linspace(0.5, 0.9, 10) + 0.01
    assert both(before, after, bounds=(0, 1)).difference.interval.method == "guarded"
    assert both(before, after).difference.interval.method == "t"
    assert both(before, after).unguarded is None
    after[10] = 0.6
    assert both(before, after, bounds=(0, 1)).difference.interval.method == "t"


def test_enough_gains_are_clear_in_spite_of_the_guard():
    found = rare_loss(2_000)
    assert verdict(found, found.p) == "better"
    assert not found.clear_but_for_guard(found.p)


@given(grades, st.integers(1, 3))
def test_a_difference_never_leaves_the_possible_range(rows, size):
    before, after = np.array(rows).T / 8
    for clusters in (None, np.arange(len(rows)) // size):
        found = both(before, after, clusters=clusters, bounds=(0, 1))
        for interval in (found.difference.interval, found.narrow):
            if interval.low is not None:
                assert -1 <= interval.low <= found.difference.value + 1e-12
                assert found.difference.value - 1e-12 <= interval.high <= 1


def test_two_items_that_pull_apart_stay_within_the_range():
    found = both([0.1, 0.9], [0.9, 0.2], bounds=(0, 1))
    assert (found.difference.interval.low, found.difference.interval.high) == (-1.0, 1.0)
