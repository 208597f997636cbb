"""A judge corrected by labels: the formula, its limits, and how often it is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.calibration import UNSEEN, Calibrated, LabelledScores, calibrate
from assay.stats.interval import ratio, z_value


def made(labels, judged, rest, **more) -> Calibrated:
    columns = {"labels": labels, "judged": judged, "rest": rest}
    found = LabelledScores(**{name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}, **more)
    return calibrate(found, rng=np.random.default_rng(1))


def drawn_from(rng, share=0.6, sensitivity=0.9, specificity=0.8, n=100, rest=1_000):
    """Labels and judgements of n samples, and judgements of the rest."""
    truth = (rng.random(n + rest) < share).astype(float)
    right = np.where(truth == 1, rng.random(n + rest) < sensitivity, rng.random(n + rest) < specificity)
    judged = np.where(right, truth, 1 - truth)
    return truth[:n], judged[:n], judged[n:]


def test_the_estimate_is_that_of_the_formula():
    labels, judged, rest = drawn_from(np.random.default_rng(3))
    found = made(labels, judged, rest)
    n, big = len(labels), len(rest)
    trust = np.cov(labels, judged)[0, 1] / ((1 + n / big) * np.var(judged, ddof=1))
    left = labels - trust * judged
    assert found.trust == pytest.approx(trust)
    assert found.estimate.value == pytest.approx(trust * rest.mean() + left.mean())
    variance = trust**2 * np.var(rest, ddof=1) / big + np.var(left, ddof=1) / n
    share = found.estimate.value
    assert found.estimate.interval.n_effective == pytest.approx(share * (1 - share) / variance)
    assert (found.estimate.n, found.n_labelled, found.n_unlabelled) == (n + big, n, big)
    width = 2 * z_value(0.95) * math.sqrt(variance)
    more = np.var(left, ddof=1) / (width**2 / (16 * z_value(0.95) ** 2) - trust**2 * np.var(rest, ddof=1) / big)
    assert found.labels_to_halve == math.ceil(more)


def test_beside_it_stand_the_judge_and_the_labels_alone():
    labels, judged, rest = drawn_from(np.random.default_rng(3))
    found = made(labels, judged, rest)
    assert found.judge.value == pytest.approx(np.concatenate([judged, rest]).mean())
    assert (found.judge.n, found.judge.interval.method) == (1_100, "wilson")
    expected = ratio(labels, np.ones_like(labels))
    assert found.labels_only.value == expected.value
    assert found.labels_only.interval.low == pytest.approx(expected.interval.low)
    width = found.estimate.interval.high - found.estimate.interval.low
    assert width < found.labels_only.interval.high - found.labels_only.interval.low


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.98), st.floats(0, 1), st.floats(0, 1))
def test_trust_lies_between_0_and_1_and_the_interval_around_the_estimate(seed, share, sensitivity, specificity):
    found = made(*drawn_from(np.random.default_rng(seed), share, sensitivity, specificity, n=30, rest=90))
    assert 0 <= found.trust <= 1
    assert found.estimate.interval.low <= found.estimate.value <= found.estimate.interval.high
    assert found.estimate.interval.low < found.estimate.interval.high


def test_a_judge_that_always_says_the_same_is_not_trusted():
    found = made([1, 0, 1, 1], [1, 1, 1, 1], [1] * 50)
    assert found.trust == 0.0
    assert found.estimate.value == found.labels_only.value == 0.75


def test_labels_that_never_contradict_the_judge_leave_room_for_some_that_might():
    labels = np.array([1.0, 0.0] * 20)
    found = made(labels, labels, [1, 0] * 5_000)
    n, half = 40, found.estimate.interval.high - found.estimate.value
    assert found.trust == pytest.approx(1 / (1 + n / 10_000))
    assert half == pytest.approx(2.02 * math.sqrt(UNSEEN / (n * (n - 1))), rel=0.1)


def test_values_of_another_range_are_scaled_and_without_one_take_t():
    labels, judged, rest = drawn_from(np.random.default_rng(5))
    unit = made(labels, judged, rest)
    found = LabelledScores(labels=1 + 4 * labels, judged=1 + 4 * judged, rest=1 + 4 * rest)
    five = calibrate(found, bounds=(1, 5), rng=np.random.default_rng(1))
    assert five.estimate.value == pytest.approx(1 + 4 * unit.estimate.value)
    assert five.estimate.interval.low == pytest.approx(1 + 4 * unit.estimate.interval.low)
    assert five.labels_only.interval.high == pytest.approx(1 + 4 * unit.labels_only.interval.high)
    bare = calibrate(found, bounds=None, rng=np.random.default_rng(1))
    assert bare.estimate.value == pytest.approx(five.estimate.value)
    assert (bare.estimate.interval.method, bare.labels_only.interval.method) == ("t", "t")
    same = LabelledScores(labels=np.full(3, 7.0), judged=np.full(3, 7.0), rest=np.full(9, 7.0))
    assert calibrate(same, bounds=None, rng=np.random.default_rng(1)).estimate.interval.caveat is not None


def test_more_labels_cannot_always_halve_the_width():
    few = made([1, 0] * 5, [1, 0] * 5, [1, 0] * 5)
    assert few.labels_to_halve is None


def test_one_label_is_too_few():
    found = made([1], [1], [1, 0, 1])
    assert (found.estimate.value, found.labels_only.value) == (None, None)
    assert "at least 2 labels" in found.estimate.reason
    assert found.judge.value == 0.75


def test_all_samples_labelled_leaves_the_judge_out():
    found = made([1, 0, 1, 1], [1, 0, 0, 1], [])
    assert (found.trust, found.estimate.value) == (0.0, 0.75)


def test_labels_drawn_with_unequal_chances_weigh_accordingly():
    """Half of the population is always yes, half never; the first half is labelled four times as often."""
    labels = np.array([1.0] * 40 + [0.0] * 10)
    chances = np.array([0.4] * 40 + [0.1] * 10)
    found = made(labels, np.full(50, 0.5), np.full(150, 0.5), chances=chances)
    assert found.labels_only.value == pytest.approx(0.5)
    assert found.estimate.value == pytest.approx(0.5)


def test_the_unlabelled_weigh_by_their_chance_of_being_left():
    chances, left = np.array([0.9, 0.9, 0.1]), np.array([0.9, 0.1, 0.1])
    found = LabelledScores(
        labels=np.array([1.0, 1, 0]), judged=np.array([1.0, 1, 0]), rest=np.array([1.0, 0, 0]),
        chances=chances, rest_chances=left,
    )  # fmt: skip
    assert found.rest_weights.tolist() == pytest.approx([10, 1 / 0.9, 1 / 0.9])
    assert found.weights.tolist() == pytest.approx([1 / 0.9, 1 / 0.9, 10])


def test_rogan_and_gladen_speak_only_for_judges_that_surely_beat_guessing():
    labels, judged, rest = drawn_from(np.random.default_rng(7), n=200, rest=4_000)
    good = made(labels, judged, rest).rogan_gladen
    assert good.value == pytest.approx(0.6, abs=0.08)
    assert good.interval.low < good.value < good.interval.high
    assert good.interval.method == "lang_reiczigel"
    guessing = made(*drawn_from(np.random.default_rng(7), 0.6, 0.5, 0.5, n=50)).rogan_gladen
    assert guessing.value is None
    assert "guessing" in guessing.reason
    assert made([0.5, 1], [1, 0], [1, 0]).rogan_gladen is None


def test_rogan_and_gladen_need_ten_labels_of_each_class():
    labels = [1.0] * 40 + [0.0] * 9
    found = made(labels, labels, [1, 0] * 50).rogan_gladen
    assert found.value is None
    assert found.reason == "needs at least 10 labels of each class: 40 are yes, 9 are no"
    assert made([*labels, 0.0], [*labels, 0.0], [1, 0] * 50).rogan_gladen.value is not None
    assert made([1, 1, 1], [1, 1, 1], [1, 0]).rogan_gladen.reason.endswith("3 are yes, 0 are no")


def test_the_estimate_has_the_hull_of_the_score_interval_and_the_beta_interval():
    """The Beta interval by the formula, for 0/1 labels of equal weight."""
    from scipy.stats import beta

    labels, judged, rest = drawn_from(np.random.default_rng(3), 0.95, 0.98, 0.98, n=100)
    found = made(labels, judged, rest).estimate.interval
    y, f, mass = np.append(labels, [1, 0]), np.append(judged, [0, 1]), np.append(np.ones(100), [0.75, 0.75])
    n = mass.sum()
    means = mass @ y / n, mass @ f / n
    slope = (mass @ ((y - means[0]) * (f - means[1]))) / (mass @ (f - means[1]) ** 2)
    trust = slope / (1 + n / len(rest))
    e = y - trust * f
    centre = mass @ e / n
    variance = mass @ (e - centre) ** 2 / (n * (n + 1)) + trust**2 * np.var(rest, ddof=1) / len(rest)
    m = trust * rest.mean() + centre
    size = m * (1 - m) / variance - 1
    expected = beta.ppf([0.025, 0.975], m * size, (1 - m) * size)
    assert found.method == "wilson_beta"
    assert found.low <= expected[0] + 1e-12
    assert found.high >= expected[1] - 1e-12
    assert any(math.isclose(a, b, rel_tol=1e-9) for a, b in zip((found.low, found.high), expected, strict=True))


def test_at_60_percent_the_raw_judge_misses_and_the_corrected_one_holds():
    rng = np.random.default_rng(11)
    raw = ours = 0
    runs = 200
    for _ in range(runs):
        found = made(*drawn_from(rng, n=150, rest=30_000))
        raw += found.judge.interval.low <= 0.6 <= found.judge.interval.high
        ours += found.estimate.interval.low <= 0.6 <= found.estimate.interval.high
    assert raw / runs < 0.05
    assert 0.91 <= ours / runs <= 0.985


def test_a_judge_that_knows_nothing_costs_next_to_nothing():
    rng = np.random.default_rng(13)
    ratios = []
    for _ in range(200):
        found = made(*drawn_from(rng, 0.6, 0.5, 0.5, n=80, rest=2_000))
        ours, alone = (value.interval for value in (found.estimate, found.labels_only))
        ratios.append((ours.high - ours.low) / (alone.high - alone.low))
    assert np.median(ratios) <= 1.05


def clustered(rng, groups, size, labelled):
    """Documents whose answers are alike; whole documents are labelled."""
    share = np.repeat(rng.beta(2, 1, groups), size)
    truth = (rng.random(groups * size) < share).astype(float)
    judged = np.where(rng.random(groups * size) < 0.85, truth, 1 - truth)
    cut = labelled * size
    ids = np.repeat(np.arange(groups), size)
    return (truth[:cut], judged[:cut], judged[cut:]), {"clusters": ids[:cut], "rest_clusters": ids[cut:]}


def test_copying_every_row_with_its_cluster_leaves_every_interval_as_it_is():
    columns, ids = clustered(np.random.default_rng(3), 40, 1, 15)
    once = made(*columns, **ids)
    often = made(*(np.repeat(c, 5) for c in columns), **{name: np.repeat(i, 5) for name, i in ids.items()})
    for part in ("estimate", "labels_only", "judge"):
        one, five = getattr(once, part), getattr(often, part)
        assert five.value == pytest.approx(one.value, abs=1e-12)
        assert (five.interval.low, five.interval.high) == pytest.approx(
            (one.interval.low, one.interval.high), abs=1e-12
        )
    assert (once.estimate.interval.clusters, often.estimate.interval.clusters) == (None, 15)


def test_clusters_widen_the_interval_and_few_of_them_are_a_caveat():
    columns, ids = clustered(np.random.default_rng(5), 30, 10, 8)
    apart, together = made(*columns), made(*columns, **ids)
    width = [m.estimate.interval.high - m.estimate.interval.low for m in (apart, together)]
    assert width[1] > 1.3 * width[0]
    assert together.estimate.interval.caveat == "few clusters"
    assert together.estimate.interval.clusters == 8


def test_labels_of_one_cluster_have_no_interval():
    found = made([1, 0, 1], [1, 0, 1], [1, 0], clusters=np.zeros(3, dtype=int), rest_clusters=np.array([1, 2]))
    assert found.estimate.interval.caveat == "no interval can be computed: all values come from one cluster"
    assert found.labels_to_halve is None
