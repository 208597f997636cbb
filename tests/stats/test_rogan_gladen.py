"""The share behind a yes/no judge: the published interval, its conditions, and how often it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats.interval import ratio
from assay.stats.rogan_gladen import rogan_gladen


def rate(hits, n, **options):
    return ratio([1.0] * hits + [0.0] * (n - hits), [1.0] * n, **options)


def test_the_interval_is_that_of_lang_and_reiczigel():
    z, m, k, n1, tp, n0, tn = 1.959963984540054, 400, 90, 60, 55, 80, 70
    se, sp, ap = (tp + 1) / (n1 + 2), (tn + 1) / (n0 + 2), (k + z**2 / 2) / (m + z**2)
    skill = se + sp - 1
    share = (ap + sp - 1) / skill
    parts = share * se * (1 - se) / (n1 + 2), (1 - share) * sp * (1 - sp) / (n0 + 2)
    centre = share + 2 * z**2 * (parts[0] - parts[1])
    noise = ap * (1 - ap) / (m + z**2) + share * parts[0] + (1 - share) * parts[1]
    found = rogan_gladen(rate(k, m), rate(tp, n1), rate(tn, n0))
    assert found.value == pytest.approx((k / m + tn / n0 - 1) / (tp / n1 + tn / n0 - 1))
    half = z / skill * math.sqrt(noise)
    assert (found.interval.low, found.interval.high) == pytest.approx((centre - half, centre + half), rel=1e-12)


def test_rates_of_1_are_not_taken_for_certain():
    found = rogan_gladen(rate(98, 100), rate(50, 50), rate(12, 12))
    assert found.interval.high == 1.0
    assert found.interval.low < 0.94


def test_at_the_end_there_is_an_interval():
    found = rogan_gladen(rate(50, 50), rate(90, 100), rate(90, 100))
    assert found.value == 1.0
    assert 0 < found.interval.low < found.interval.high == 1.0


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "reason"),
    [
        (rate(9, 9), rate(50, 50), "needs at least 10 labels of each class: 9 are yes, 50 are no"),
        (rate(50, 50), rate(0, 0), "needs at least 10 labels of each class: 50 are yes, 0 are no"),
        (rate(30, 50), rate(25, 50), "the judge may be guessing"),
        (ratio([1.0] * 20, [1.0] * 20, np.zeros(20, dtype=int)), rate(50, 50), "the judge may be guessing"),
    ],
)
def test_without_enough_labels_or_skill_it_is_null_with_the_reason(sensitivity, specificity, reason):
    found = rogan_gladen(rate(50, 100), sensitivity, specificity)
    assert found.value is None
    assert found.reason.endswith(reason)
