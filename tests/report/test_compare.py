"""Comparisons in words: size, bounds and chances as people say them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.report.compare import amount, bracket, chance, digits_of, words
from assay.results.comparison import Compared, Comparison
from assay.stats.paired import Paired, paired, verdict
from assay.types import Interval, MetricValue


def compared(value, low, high, verdict, *, in_points=True, n_to_decide=None, p=0.02):
    interval = None if low is None else Interval(low=low, high=high, method="t")
    difference = MetricValue(value=value, n=400, interval=interval, reason="too few" if value is None else None)
    found = Paired(difference=difference, narrow=None, p=p, test="t", wins=40, ties=338, losses=22, share_squared=0.1)
    nothing = MetricValue(value=0.5, n=400)
    return Compared(
        letter="B", address="s/m/v", before=nothing, after=nothing, found=found, p_adjusted=p, verdict=verdict,
        n_to_decide=n_to_decide, flips=(), in_points=in_points,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("each", "margin", "said"),
    [
        (
            compared(0.031, 0.004, 0.058, "better"),
            None,
            "B is better by 3.1 points [0.4, 5.8], p = 0.02; 62 of 400 samples changed",
        ),
        (
            compared(-0.031, -0.058, -0.004, "worse"),
            None,
            "B is worse by 3.1 points [0.4, 5.8], p = 0.02; 62 of 400 samples changed",
        ),
        (
            compared(0.003, -0.01, 0.016, "no clear difference", n_to_decide=9_000, p=0.6),
            None,
            "no clear difference: B - A is +0.3 points [-1.0, 1.6], p = 0.6; 62 of 400 samples changed; "
            "about 9,000 samples would decide",
        ),
        (
            compared(0.0, -0.004, 0.004, "equivalent", p=1.0),
            0.01,
            "A and B are equivalent within ±1 points: B - A is +0.0 points [-0.4, 0.4], p = 1; "
            "62 of 400 samples changed",
        ),
        (
            compared(1.5, -0.5, 3.5, "undecided", in_points=False),
            2.0,
            "undecided whether A and B are equivalent within ±2: B - A is +1.5 [-0.5, 3.5], p = 0.02; "
            "62 of 400 samples changed",
        ),
        (compared(None, None, None, "no clear difference"), None, "B cannot be compared: too few"),
        (
            compared(0.5, None, None, "no clear difference", p=None),
            None,
            "no clear difference: B - A is +50.0 points [?, ?], p unknown; 62 of 400 samples changed",
        ),
    ],
)
def test_every_verdict_is_a_sentence(each, margin, said):
    whole = Comparison(runs=(), matching=(), compared=(each,), margin=margin)
    assert words(each, whole) == said


def test_narrow_intervals_have_more_digits():
    narrow = Interval(low=0.0046, high=0.0053, method="tango")
    assert digits_of(narrow) == 2
    assert amount(0.00497, True, digits=2) == "0.50 points"
    assert bracket(narrow, True, digits=2) == "[0.46, 0.53]"
    assert digits_of(Interval(low=0.0, high=0.0001, method="tango")) == 3
    assert digits_of(None) == 1


def test_nothing_is_minus_zero_and_no_chance_is_zero():
    assert bracket(Interval(low=-0.0, high=-1e-9, method="t"), True) == "[0.0, 0.0]"
    assert amount(-1e-9, True, sign=True) == "+0.0 points"
    assert chance(0.0) == "p < 0.0001"


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (0.1, "10 up, 0 down; a loss of the full range in 1 of 101 items would cancel it; B - A is"),
        (-0.1, "0 up, 10 down; a gain of the full range in 1 of 101 items would cancel it; B - A is"),
    ],
)
def test_where_only_the_guard_is_in_doubt_the_words_say_what_would_undo_the_difference(gain, said):
    before = np.full(100, 0.5)
    after = before + np.where(np.arange(100) < 10, gain, 0.0)
    found = paired(before, after, rng=np.random.default_rng(1), bounds=(0, 1))
    each = replace(compared(0.01, None, None, verdict(found, found.p)), found=found, p_adjusted=found.p)
    assert words(each, Comparison(runs=(), matching=(), compared=(each,))).startswith(f"no clear difference: {said}")
    doubtful = replace(each, p_adjusted=0.2)
    assert "full range" not in words(doubtful, Comparison(runs=(), matching=(), compared=(doubtful,)))
