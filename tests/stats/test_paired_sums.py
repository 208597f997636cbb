"""Paired differences of functions of sums: against brute force, their coverage, and their false alarms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from assay.metrics.sums import class_sums, count_sums, share
from assay.stats.classification import class_f1, kappa
from assay.stats.paired_sums import paired_sums


def f1_sums():
    return class_sums("t", "p", lambda _: {"f1": class_f1(1), "kappa": kappa}, labels=["0", "1"])


def simulated(rng, n, first, second, shared, prevalence=0.5):
    """True classes and two predictions that are right with their rates; `shared` of the items are hard for both."""
    truth = rng.random(n) < prevalence
    common = rng.random(n)
    own = [np.where(rng.random(n) < shared, common, rng.random(n)) for _ in range(2)]
    return [
        [(str(int(t)), str(int(t if u < rate else not t))) for t, u in zip(truth, draw, strict=True)]
        for rate, draw in zip((first, second), own, strict=True)
    ]


def f1_of(pairs):
    counts = Counter(pairs)
    return 2 * counts["1", "1"] / (2 * counts["1", "1"] + counts["0", "1"] + counts["1", "0"])


def test_the_interval_is_that_of_resampling_items_with_all_that_both_runs_say_of_them():
    rng = np.random.default_rng(5)
    before, after = simulated(rng, 400, 0.8, 0.85, 0.5)
    compared = paired_sums(f1_sums().compare("f1", before, after), rng=np.random.default_rng(1)).difference
    draws = []
    for _ in range(4_000):
        chosen = rng.integers(0, 400, 400)
        draws.append(f1_of([after[i] for i in chosen]) - f1_of([before[i] for i in chosen]))
    low, high = np.quantile(draws, [0.025, 0.975])
    assert compared.difference.value == pytest.approx(f1_of(after) - f1_of(before), abs=1e-12)
    assert compared.difference.interval.low == pytest.approx(low, abs=0.012)
    assert compared.difference.interval.high == pytest.approx(high, abs=0.012)


def test_copies_of_an_item_in_one_cluster_change_nothing():
    before, after = simulated(np.random.default_rng(3), 60, 0.8, 0.9, 0.5)
    plain = paired_sums(f1_sums().compare("kappa", before, after), rng=np.random.default_rng(1)).difference
    copied = paired_sums(
        f1_sums().compare("kappa", before * 5, after * 5),
        np.tile(np.arange(60), 5),
        rng=np.random.default_rng(1),
    ).difference
    assert copied.difference.value == pytest.approx(plain.difference.value, abs=1e-12)
    assert copied.difference.interval.low == pytest.approx(plain.difference.interval.low, abs=0.02)
    assert copied.difference.interval.high == pytest.approx(plain.difference.interval.high, abs=0.02)
    assert copied.p == pytest.approx(plain.p, abs=0.02)


def test_an_undefined_side_leaves_the_difference_undefined():
    never = [("0", "0")] * 10
    compared = paired_sums(f1_sums().compare("f1", never, [("0", "1")] * 10), rng=np.random.default_rng(1))
    assert compared.before.value is None
    assert compared.difference.difference.value is None
    assert "undefined" in compared.difference.difference.reason


def test_counts_are_summed_over_samples():
    counts = count_sums(["tp", "fp", "fn"], lambda s: share(2 * s[..., 0], 2 * s[..., 0] + s[..., 1] + s[..., 2]))
    before, after = [(3.0, 1.0, 0.0), (0.0, 0.0, 2.0)] * 20, [(3.0, 0.0, 0.0), (1.0, 0.0, 1.0)] * 20
    compared = paired_sums(counts.compare("f1_score", before, after), rng=np.random.default_rng(1))
    assert compared.before.value == pytest.approx(6 / 9)
    assert compared.after.value == pytest.approx(8 / 9)
    assert compared.difference.p < 0.001
    assert (compared.difference.wins, compared.difference.losses) == (40, 0)
    assert counts.read({"tp": 1, "fp": None, "fn": 2}) is None
    assert counts.shown((0.0, 0.0, 0.0)) is None, "an undefined ratio of one sample is not 0"


@pytest.mark.parametrize("name", ["f1", "kappa"])
def test_the_interval_covers_and_false_alarms_are_rare(name):
    rng = np.random.default_rng(11)
    big = f1_sums().compare(name, *simulated(np.random.default_rng(2), 200_000, 0.92, 0.95, 0.5))
    totals = [np.bincount(big.codes) @ side for side in (big.before, big.after)]
    true = float(big.value(totals[1]) - big.value(totals[0]))
    covered, alarms, runs = 0, 0, 120
    for _ in range(runs):
        pair = f1_sums().compare(name, *simulated(rng, 80, 0.92, 0.95, 0.5))
        interval = paired_sums(pair, rng=rng).difference.difference.interval
        covered += interval.low <= true <= interval.high
        null = paired_sums(f1_sums().compare(name, *simulated(rng, 80, 0.92, 0.92, 0.5)), rng=rng).difference
        alarms += null.p < 0.05 and not null.difference.interval.low <= 0 <= null.difference.interval.high
    assert covered / runs >= 0.90
    assert alarms / runs <= 0.10
