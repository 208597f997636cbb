from __future__ import annotations

import numpy as np
import pytest

from assay.stats.abstention import abstentions, assessed
from assay.stats.classification import accuracy
from assay.stats.ratings import coded


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


TRUTH = coded(["yes", "no", None, "yes", None, "no", "yes", "no"], ["no", "yes"])
JUDGE = coded(["yes", "yes", "yes", None, None, "no", "yes", "no"], ["no", "yes"])


def test_abstentions_are_counted_by_who_made_them() -> None:
    found = abstentions(TRUTH, JUDGE, rng=rng())
    assert (found.n, found.assessed, found.both, found.truth_only, found.judge_only) == (8, 5, 1, 1, 1)
    assert (found.truth_rate.value, found.judge_rate.value) == (0.25, 0.25)


def test_accuracy_lies_between_all_abstentions_wrong_and_all_right() -> None:
    found = abstentions(TRUTH, JUDGE, rng=rng())
    seen = accuracy(assessed(TRUTH, JUDGE, 2))
    assert (found.accuracy_low.value, seen.value, found.accuracy_high.value) == (4 / 8, 4 / 5, 7 / 8)


def test_kappa_says_whether_they_abstain_on_the_same_items() -> None:
    found = abstentions(TRUTH, JUDGE, rng=rng()).kappa
    # 6 of 8 agree; by chance 2 * 2 + 6 * 6 of 64.
    assert found.value == pytest.approx((0.75 - 0.625) / 0.375)
    assert found.interval is not None


def test_without_abstentions_the_kappa_is_undefined_and_the_bounds_meet() -> None:
    codes = np.array([0, 1, 1, 0])
    found = abstentions(codes, np.array([0, 1, 0, 0]), rng=rng())
    assert (found.kappa.value, found.kappa.reason) == (None, "only one class occurs")
    assert found.accuracy_low == found.accuracy_high
    assert found.judge_rate.value == 0.0
    assert found.judge_rate.interval is not None
    assert found.judge_rate.interval.high > 0  # type: ignore[operator]


def test_clusters_go_with_their_pairs() -> None:
    pairs = assessed(TRUTH, JUDGE, 2, np.arange(8) // 2)
    assert pairs.clusters is not None
    assert pairs.clusters.tolist() == [0, 0, 2, 3, 3]
    assert abstentions(TRUTH, JUDGE, np.arange(8) // 2, rng=rng()).judge_rate.interval.clusters == 4  # type: ignore[union-attr]


def test_no_pairs_at_all_are_undefined() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = abstentions(none, none, rng=rng())
    assert (found.judge_rate.value, found.accuracy_low.value, found.kappa.value) == (None, None, None)
