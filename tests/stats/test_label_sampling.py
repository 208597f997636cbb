"""Which samples people should label, and labels that were not drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.label_sampling import LEAST_SHARE, chances_to_label, drawn, origin_chance

doubts = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(doubts, st.integers(1, 60))
def test_chances_add_up_and_none_is_too_small(doubt, n):
    found = chances_to_label(doubt, n)
    if n >= len(doubt):
        assert found.tolist() == [1.0] * len(doubt)
        return
    assert found.sum() == pytest.approx(n)
    assert found.max() <= 1 + 1e-12
    assert found.min() >= LEAST_SHARE * n / len(doubt) - 1e-12


def test_doubtful_samples_are_drawn_more_often_and_equal_ones_alike():
    found = chances_to_label([0.0, 0.5, 0.5, 0.1] * 10, 8)
    assert found[1] == found[2] > found[3] > found[0]
    assert chances_to_label([0.0] * 4, 1).tolist() == [0.25] * 4


@given(doubts, st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_as_many_are_drawn_as_asked_for_and_none_twice(doubt, n, seed):
    places = drawn(chances_to_label(doubt, n), rng=np.random.default_rng(seed))
    assert len(places) == min(n, len(doubt))
    assert len(set(places.tolist())) == len(places)


def test_every_sample_is_drawn_with_its_chance():
    chances = chances_to_label([0.0, 1.0, 0.3, 0.0, 0.7, 0.2], 3)
    rng = np.random.default_rng(1)
    counts = np.zeros(6)
    for _ in range(4_000):
        counts[drawn(chances, rng=rng)] += 1
    assert (counts / 4_000).tolist() == pytest.approx(chances.tolist(), abs=0.03)


def test_labels_of_chosen_samples_are_noticed():
    rng = np.random.default_rng(2)
    assert origin_chance(rng.random(50), rng.random(500)) > 0.01
    assert origin_chance(rng.random(50) + 0.4, rng.random(500)) < 0.001
    assert origin_chance([1.0], [0.0, 1.0]) == 1.0
    assert origin_chance([1.0, 1.0], [1.0, 1.0, 1.0]) == 1.0
    assert origin_chance([1.0, 1.0], [0.0, 0.0, 0.0]) == 0.0


def test_the_chance_is_that_of_welch():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(3)
    one, two = rng.random(30), rng.random(80) ** 2
    assert origin_chance(one, two) == pytest.approx(ttest_ind(one, two, equal_var=False).pvalue)
