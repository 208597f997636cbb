"""What every metric must obey, whatever it measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from assay.metrics.compute import NOTHING_SCORED
from assay.metrics.kinds import KINDS
from assay.types import MetricResult, MetricValue

Measure = Callable[..., MetricResult]
Rows = Sequence[Mapping[str, Any]]

PAIR = {"field_gt": "truth", "field_pred": "answer"}
COUNTS = {"num_true_positives_field": "tp"}
CODE = """
def compute_metrics(scores):
    values = [score["score"] for score in scores if "score" in score]
    return {"range": max(values) - min(values), "none": None}
"""
METRICS: dict[str, dict[str, Any]] = {
    "mean": {"field": "score"},
    "mean of 0/1": {"type": "mean", "field": "right"},
    "max": {"field": "score"},
    "min": {"field": "score"},
    "std_dev": {"field": "score"},
    "median": {"field": "score"},
    "percentile": {"field": "score", "q": 75},
    "frequency": {"field": "answer"},
    "weighted_average": {"field": "answer", "weights": {"yes": 1, "no": 0, "maybe": 0.5}},
    "recall": COUNTS | {"num_false_negatives_field": "fn"},
    "precision": COUNTS | {"num_false_positives_field": "fp"},
    "f1_score": COUNTS | {"num_false_negatives_field": "fn", "num_false_positives_field": "fp"},
    "binary-classification": PAIR | {"positive_answer": "yes", "negative_answer": "no"},
    "multiclass-classification": PAIR,
    "cohens_kappa": PAIR,
    "matthews_corrcoef": PAIR,
    "brier": {"field_prob": "probability", "field_gt": "right"},
    "python": {"compute_metrics_snippet": CODE},
}
CASES = [{"type": name} | fields for name, fields in METRICS.items()]


def some_rows(n: int = 60) -> list[dict[str, Any]]:
    random = np.random.default_rng(9)
    answers = ["yes", "no", "maybe"]
    return [
        {
            "score": round(float(random.lognormal()), 2),
            "right": float(random.random() < 0.8),
            "probability": round(float(random.random()), 3),
            "truth": answers[random.integers(0, 3)],
            "answer": answers[random.integers(0, 3)],
            "tp": int(random.integers(0, 4)),
            "fp": int(random.integers(0, 3)),
            "fn": int(random.integers(0, 3)),
        }
        for _ in range(n)
    ]


def bounds(value: MetricValue) -> tuple[float | None, float | None]:
    return (None, None) if value.interval is None else (value.interval.low, value.interval.high)


def test_every_metric_is_here() -> None:
    assert {case["type"] for case in CASES} == {kind.name for kind in KINDS}


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
def test_the_order_of_the_samples_does_not_matter(case: dict[str, Any], measure: Measure) -> None:
    rows = some_rows()
    order = np.random.default_rng(2).permutation(len(rows)).tolist()
    shuffled = [rows[i] for i in order]
    assert measure(case, rows) == measure(case, shuffled)
    clusters = [i // 4 for i in range(len(rows))]
    assert measure(case, rows, clusters=clusters) == measure(
        case, shuffled, clusters=[100 - clusters[i] for i in order]
    )


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
@pytest.mark.parametrize("size", [1, 4])
def test_five_copies_of_each_row_with_its_cluster_leave_every_interval(
    case: dict[str, Any], size: int, measure: Measure
) -> None:
    rows = some_rows()
    clusters = [i // size for i in range(len(rows))]
    once = measure(case, rows, clusters=clusters)
    copied = measure(case, [row for row in rows for _ in range(5)], clusters=[c for c in clusters for _ in range(5)])
    assert once.values.keys() == copied.values.keys()
    for name, value in once.values.items():
        expected, found = bounds(value), bounds(copied.values[name])
        assert [bound is None for bound in expected] == [bound is None for bound in found]
        for bound, other in zip(expected, found, strict=True):
            assert bound is None or other == pytest.approx(bound, abs=1e-12)


MEANS = {kind.name: kind for kind in KINDS if kind.per_sample is not None}


@pytest.mark.parametrize("case", [case for case in CASES if case["type"] in MEANS], ids=lambda case: case["type"])
def test_a_metric_with_a_number_per_sample_is_the_mean_of_those_numbers(case: dict[str, Any], measure: Measure) -> None:
    kind = MEANS[case["type"]]
    assert kind.per_sample is not None
    per_sample = kind.per_sample(kind.settings.model_validate(case))
    rows: Rows = [*some_rows(), *(dict.fromkeys(row) for row in some_rows(1))]
    result = measure(case, rows)
    value = next(iter(result.values.values())) if per_sample.value is None else result.values[per_sample.value]
    numbers = [number for row in rows if (number := per_sample.read(row)) is not None]
    assert (value.value, value.n) == (pytest.approx(np.mean(numbers)), len(numbers))
    assert set(per_sample.fields) <= set(rows[0])
    low, high = per_sample.bounds or (-math.inf, math.inf)
    assert all(low <= number <= high for number in numbers)


def test_the_metrics_that_are_means_over_samples() -> None:
    assert set(MEANS) == {"mean", "weighted_average", "binary-classification", "multiclass-classification"}


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
def test_nothing_scored_is_undefined_never_0(case: dict[str, Any], measure: Measure) -> None:
    found = measure(case, [])
    assert all(value == MetricValue(value=None, n=0, reason=NOTHING_SCORED) for value in found.values.values())
    assert found.values or case["type"] in ("frequency", "python")


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_every_value_has_an_interval_or_a_reason_and_nothing_is_nan(
    case: dict[str, Any], n: int, measure: Measure
) -> None:
    for value in measure(case, some_rows(n)).values.values():
        if value.value is None:
            assert value.reason
            assert value.interval is None
            continue
        assert math.isfinite(value.value)
        assert value.interval is not None
        low, high = bounds(value)
        assert value.interval.caveat or (low is not None and high is not None)
        assert all(bound is None or math.isfinite(bound) for bound in (low, high))
        assert low is None or high is None or low < high


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
def test_a_sample_without_the_fields_changes_only_the_count_of_those_left_out(
    case: dict[str, Any], measure: Measure
) -> None:
    rows = some_rows()
    with_gap = measure(case, [*rows, {"other": 1}])
    found = measure(case, rows)
    if case["type"] == "python":  # it sees every score and says itself which it leaves out
        assert [v.value for v in with_gap.values.values()] == [v.value for v in found.values.values()]
        return
    assert with_gap.values == found.values
    assert with_gap.n_excluded == found.n_excluded + 1


@pytest.mark.parametrize("case", CASES, ids=list(METRICS))
def test_rows_counted_together_give_what_single_rows_give(case: dict[str, Any], measure: Measure) -> None:
    """Rows in clusters are never put together; clusters of one row each, but for one pair far off, come close."""
    rows = some_rows()
    together = measure(case, rows)
    apart = measure(case, [*rows, {"other": 1}, {"other": 1}], clusters=[*range(60), 99, 99])
    assert {name: value.value for name, value in apart.values.items()} == pytest.approx(
        {name: value.value for name, value in together.values.items()}
    )
    for name, value in together.values.items():
        assert bounds(apart.values[name]) == pytest.approx(bounds(value), abs=1e-9)
