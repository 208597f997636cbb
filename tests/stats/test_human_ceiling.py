from __future__ import annotations

import numpy as np
import pytest

from assay.stats.human_ceiling import human_ceiling
from assay.stats.panel import panel_agreement
from assay.stats.ratings import Ratings


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def labelled(n: int, error: float, people: int = 3) -> tuple[np.ndarray, Ratings]:
    random = np.random.default_rng(2)
    truth = random.integers(0, 3, n)
    wrong = random.random((n, people)) < error
    codes = np.where(wrong, random.integers(0, 3, (n, people)), truth[:, None])
    return truth, Ratings(codes=codes, values=np.array([0.0, 0.5, 1.0]))


def test_with_full_data_the_ceiling_is_the_agreement_of_the_people() -> None:
    truth, people = labelled(100, 0.3)
    assert human_ceiling(people, truth, rng=rng()).ceiling.value == pytest.approx(panel_agreement(people).value)


def test_a_judge_who_is_right_beats_people_who_err_and_one_who_guesses_does_not() -> None:
    truth, people = labelled(300, 0.3)
    found = human_ceiling(people, truth, rng=rng())
    assert found.matched.value == 1.0
    assert found.matched.n == 3
    assert found.judge.value > found.ceiling.value  # type: ignore[operator]
    guess = human_ceiling(people, np.random.default_rng(5).integers(0, 3, 300), rng=rng())
    assert guess.matched.value == 0.0
    for person in guess.people:
        assert person.difference.interval is not None
        assert person.difference.interval.high < 0  # type: ignore[operator]


def test_a_judge_who_copies_a_person_matches_that_person() -> None:
    _, people = labelled(100, 0.3)
    found = human_ceiling(people, people.codes[:, 1], rng=rng())
    assert found.people[1].difference.value == 0
    assert found.people[1].human == found.people[1].judge
    assert found.matched.value is not None
    assert found.matched.value >= 1 / 3


def test_the_judge_and_the_person_meet_on_the_same_items_and_the_same_others() -> None:
    codes = np.array([[0, 0, 1], [1, -1, 1], [-1, 2, -1], [0, 0, -1]])
    people = Ratings(codes=codes, values=np.arange(3.0))
    found = human_ceiling(people, np.array([0, 1, 2, -1]), rng=rng())
    # The judge abstained on the last item, and the third has a single person.
    first, second, third = found.people
    assert (first.human.value, first.judge.value, first.human.n) == (0.75, 0.75, 2)
    assert (second.human.value, second.judge.value, second.human.n) == (0.5, 0.5, 1)
    assert (third.human.value, third.judge.value, third.human.n) == (0.5, 1.0, 2)
    assert found.ceiling.value == pytest.approx((0.75 * 2 + 0.5 + 0.5 * 2) / 5)
    assert found.matched.value == 1.0


def test_near_misses_count_by_value_when_weighted() -> None:
    people = Ratings(codes=np.array([[0, 1], [2, 2]]), values=np.array([0.0, 0.5, 1.0]))
    found = human_ceiling(people, np.array([0, 2]), "linear", rng=rng())
    assert found.ceiling.value == pytest.approx((0.5 + 1) / 2)


@pytest.mark.parametrize("people", [1, 0])
def test_one_person_has_no_ceiling(people: int) -> None:
    codes = np.zeros((4, people), dtype=np.int64)
    found = human_ceiling(Ratings(codes=codes, values=np.arange(2.0)), np.zeros(4, int), rng=rng())
    for value in (found.ceiling, found.judge, found.matched):
        assert (value.value, value.reason) == (None, "no item was rated by two people and the judge")


def test_five_copies_with_their_clusters_change_no_interval() -> None:
    truth, people = labelled(40, 0.3)
    ids = np.arange(40)
    once = human_ceiling(Ratings(codes=people.codes, values=people.values, clusters=ids), truth, rng=rng())
    copies = Ratings(codes=np.repeat(people.codes, 5, axis=0), values=people.values, clusters=np.repeat(ids, 5))
    five = human_ceiling(copies, np.repeat(truth, 5), rng=rng())
    pairs = [(once.ceiling, five.ceiling), (once.judge, five.judge), (once.matched, five.matched)]
    pairs += [(a.difference, b.difference) for a, b in zip(once.people, five.people, strict=True)]
    for a, b in pairs:
        assert a.interval is not None
        assert b.interval is not None
        assert (b.interval.low, b.interval.high) == pytest.approx((a.interval.low, a.interval.high), abs=1e-12)
