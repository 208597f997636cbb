from __future__ import annotations

import numpy as np
import pytest

from assay.stats.additive_stats import macro
from assay.stats.classification import Pairs
from assay.stats.interval import ratio
from assay.stats.micro_macro import accuracy_sums, micro_accuracy


def some(n: int, seed: int = 4) -> Pairs:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, n)
    return Pairs(truth, np.where(random.random(n) < 0.8, truth, random.integers(0, 3, n)), 3)


def test_micro_pools_pairs_and_clusters_them_by_item() -> None:
    one, two = some(40), some(40, 5)
    found = micro_accuracy([one, two])
    hits = np.concatenate([p.truth == p.predicted for p in (one, two)]).astype(float)
    assert found == ratio(hits, np.ones(80), np.tile(np.arange(40), 2))
    assert found.interval is not None
    assert found.interval.clusters == 40


def test_criteria_with_more_items_weigh_more_in_micro_and_not_in_macro() -> None:
    right = Pairs(np.zeros(30, int), np.zeros(30, int), 2, np.arange(30))
    wrong = Pairs(np.zeros(10, int), np.ones(10, int), 2, np.arange(10))
    assert micro_accuracy([right, wrong]).value == 0.75
    found = macro([accuracy_sums(right), accuracy_sums(wrong)], rng=np.random.default_rng(1))
    assert (found.value.value, found.defined) == (0.5, 2)


def test_no_assessed_pair_is_undefined() -> None:
    assert micro_accuracy([]).value is None
    assert micro_accuracy([Pairs(np.zeros(0, int), np.zeros(0, int), 2)]).reason is not None


def test_criteria_of_different_items_need_ids() -> None:
    with pytest.raises(ValueError, match="ids"):
        micro_accuracy([some(3), some(4)])
