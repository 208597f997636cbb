from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.interval import f1, mean, no_interval, rate, ratio, wilson, z_value
from assay.types import MetricValue

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def bounds(value: MetricValue) -> tuple[float, float]:
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is not None
    return value.interval.low, value.interval.high


def test_the_normal_quantile_follows_the_level() -> None:
    assert z_value(0.95) == pytest.approx(1.959963984540054, abs=1e-12)
    assert z_value(0.99) > z_value(0.95) > z_value(0.9)


def test_wilson_works_on_arrays_and_keeps_the_ends() -> None:
    low, high = wilson([0, 5, 10], [10, 10, 10])
    assert low[0] == 0.0
    assert high[2] == 1.0
    assert low.tolist() == pytest.approx([0.0, 0.236593, 0.722467], abs=1e-6)
    assert high.tolist() == pytest.approx([0.277533, 0.763407, 1.0], abs=1e-6)


def test_unclustered_hits_get_plain_wilson() -> None:
    value = ratio([1] * 33 + [0] * 7, [1] * 40)
    assert value.value == 0.825
    assert value.n == 40
    assert value.interval is not None
    assert (value.interval.method, value.interval.n_effective, value.interval.clusters) == ("wilson", 40.0, None)
    assert bounds(value) == pytest.approx((0.6805, 0.9125), abs=1e-3)


def test_rows_with_nothing_to_count_do_not_make_the_size_larger() -> None:
    """Precision over 3 positive predictions among 100 samples is a share of 3."""
    value = ratio([1, 1, 0] + [0] * 97, [1, 1, 1] + [0] * 97)
    assert bounds(value) == bounds(ratio([1, 1, 0], [1, 1, 1]))


def test_a_ratio_of_nothing_is_undefined_with_the_reason() -> None:
    assert ratio([0, 0], [0, 0], undefined="TP + FP = 0") == MetricValue(value=None, n=2, reason="TP + FP = 0")


def test_the_effective_size_follows_the_formula() -> None:
    part, whole = np.array([1.0, 3.0, 2.0, 0.0]), np.array([2.0, 3.0, 4.0, 1.0])
    m = 6 / 10
    v = 4 / 3 * float(np.sum((part - m * whole) ** 2)) / 100
    found = ratio(part, whole).interval
    assert found is not None
    assert found.method == "wilson_effective"
    assert found.n_effective == pytest.approx(m * (1 - m) / v, rel=1e-12)
    c, n = 3.182446305284263, m * (1 - m) / v
    half = c * np.sqrt(m * (1 - m) / n + c**2 / (4 * n**2))
    assert found.low == pytest.approx((m + c**2 / (2 * n) - half) / (1 + c**2 / n), rel=1e-12)


def test_clusters_of_rows_that_agree_count_as_one_row_each() -> None:
    value = ratio([1, 1, 0, 0, 1, 1], [1] * 6, np.array([0, 0, 1, 1, 2, 2]))
    assert value.n == 6
    assert bounds(value) == bounds(ratio([1, 0, 1], [1, 1, 1]))
    assert value.interval is not None
    assert (value.interval.clusters, value.interval.caveat) == (3, "few clusters")


@pytest.mark.parametrize("values", [[1, 1, 0], [1, 1, 1], [0.5, 0.5, 0.5]])
def test_of_one_cluster_no_interval_can_be_computed(values: list[float]) -> None:
    ids = np.array([4, 4, 4])
    for value in (
        ratio(values, [1, 1, 1], ids),
        mean(values, ids, rng=rng(), bounds=(0, 1)),
        mean(values, ids, rng=rng()),
    ):
        assert value.value == pytest.approx(np.mean(values))
        assert value.interval is not None
        assert (value.interval.low, value.interval.high, value.interval.clusters) == (None, None, 1)
        assert value.interval.caveat == "no interval can be computed: all values come from one cluster"


def test_counts_of_one_document_have_no_interval_and_one_hit_has() -> None:
    """Recall over documents of which only one holds anything to find."""
    document = ratio([3, 0, 0], [5, 0, 0]).interval
    assert document is not None
    assert (document.low, document.caveat) == (None, "no interval can be computed: all values come from one cluster")
    assert bounds(ratio([1, 0], [1, 0])) == bounds(ratio([1], [1]))


@pytest.mark.parametrize(("tp", "low"), [(15, 0.8865), (1, 0.3424)])
def test_a_perfect_f1_has_a_width(tp: int, low: float) -> None:
    value = f1([1] * tp, [0] * tp, [0] * tp)
    assert value.value == 1.0
    assert bounds(value) == pytest.approx((low, 1.0), abs=5e-5)


def test_f1_is_undefined_only_without_any_positive() -> None:
    assert f1([0], [0], [0]).reason == "TP + FP + FN = 0"
    assert f1([0, 0], [1, 0], [0, 1]).value == 0.0


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_all_equal_scores_within_a_range_have_a_width(level: float) -> None:
    low, high = bounds(mean([1.0] * 20, rng=rng(), bounds=(0, 1), level=level))
    assert low == pytest.approx(20 / (20 + z_value(level) ** 2))
    assert high == 1.0
    low, high = bounds(mean([0.7] * 20, rng=rng(), bounds=(0, 1), level=level))
    assert low < 0.69 < 0.71 < high


def test_a_declared_range_scales_the_interval() -> None:
    values = np.array([0.5, 1.0, 1.0, 0.25, 0.0])
    plain = mean(values, rng=rng(), bounds=(0, 1))
    scaled = mean(1 + 4 * values, rng=rng(), bounds=(1, 5))
    assert scaled.value == pytest.approx(1 + 4 * plain.value)  # type: ignore[operator]
    assert bounds(scaled) == pytest.approx([1 + 4 * bound for bound in bounds(plain)])


@pytest.mark.parametrize(
    ("values", "limits", "method"),
    [
        ([0, 1, 1], None, "wilson"),
        ([0, 1, 1], (0, 1), "wilson"),
        ([1, 5, 5], (1, 5), "wilson"),
        ([0.2, 0.6, 1], (0, 1), "wilson_effective"),
        ([0.2, 1, 1], (0, 1), "guarded"),
        ([0.2, 0.2, 0.2], (0, 1), "guarded"),
        ([0.2, 1, 1, 1], None, "bootstrap_t"),
        ([0.2, 1, 1, 7], (0, 1), "bootstrap_t"),
        ([0.2, 1], None, "t"),
        ([3.0, 3.0], (3, 3), "bootstrap_t"),
    ],
)
def test_the_kind_of_values_decides_the_method(
    values: list[float], limits: tuple[float, float] | None, method: str
) -> None:
    found = mean(values, rng=rng(), bounds=limits).interval
    assert found is not None
    assert found.method == method


def test_the_mean_of_nothing_is_undefined() -> None:
    assert mean([], rng=rng()) == MetricValue(value=None, n=0, reason="no sample has a value")


def test_an_interval_that_cannot_be_had_says_why() -> None:
    found = no_interval("because")
    assert (found.low, found.high, found.method, found.caveat) == (None, None, "none", "because")


@given(shares)
def test_the_interval_holds_the_mean_and_stays_in_the_range(values: list[float]) -> None:
    value = mean(values, rng=rng(), bounds=(0, 1))
    low, high = bounds(value)
    assert value.value is not None
    assert 0 <= low <= value.value <= high <= 1
    assert low < high


@given(shares, st.integers(1, 4))
def test_five_copies_of_each_row_with_its_cluster_change_no_bound(values: list[float], size: int) -> None:
    clusters = np.arange(len(values)) // size
    once = mean(values, clusters, rng=rng(), bounds=(0, 1))
    copied = mean(np.repeat(values, 5), np.repeat(clusters, 5), rng=rng(), bounds=(0, 1))
    if clusters[-1] == 0:  # one cluster has no interval; a single row, which is no cluster, has one
        assert copied.interval is not None
        assert copied.interval.low is None
        return
    assert bounds(copied) == pytest.approx(bounds(once), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=20), st.randoms())
def test_the_order_of_the_rows_changes_nothing(rows: list[tuple[int, int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    results = [ratio([a for a, _ in some], [a + b for a, b in some]) for some in (rows, shuffled)]
    assert results[0] == results[1]


@pytest.mark.parametrize(("hits", "n"), [(0, 4), (3, 4), (7, 9), (9, 9)])
def test_a_rate_of_few_has_the_hull_of_wilson_and_beta(hits: int, n: int) -> None:
    from scipy.stats import beta

    low, high = bounds(rate([1] * hits + [0] * (n - hits), [1] * n))
    score = bounds(ratio([1] * hits + [0] * (n - hits), [1] * n))
    beta_low = beta.ppf(0.025, hits, n - hits + 0.5) if hits else 0.0
    beta_high = beta.ppf(0.975, hits + 0.5, n - hits) if hits < n else 1.0
    assert (low, high) == pytest.approx((min(score[0], beta_low), max(score[1], beta_high)), abs=1e-12)


def test_a_rate_of_ten_or_of_one_cluster_is_a_plain_ratio() -> None:
    assert rate([1] * 8 + [0] * 2, [1] * 10) == ratio([1] * 8 + [0] * 2, [1] * 10)
    assert rate([1, 0], [1, 1], np.array([3, 3])).interval == ratio([1, 0], [1, 1], np.array([3, 3])).interval
    assert rate([0, 0], [0, 0], undefined="why").reason == "why"
