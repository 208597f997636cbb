"""The order of options depends on content alone."""

from __future__ import annotations

import hashlib
from collections import Counter

from assay.judging.shuffle import option_order


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
