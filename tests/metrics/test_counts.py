from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.metrics.counts import counts
from assay.metrics.table import TableBuilder
from assay.types import MetricResult

Measure = Callable[..., MetricResult]

ROWS: list[dict[str, Any]] = [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 0, "fp": 2, "fn": 3}, {"tp": 1, "fp": 0, "fn": 1}]
HITS, FALSE_ALARMS, MISSES = (
    {"num_true_positives_field": "tp"},
    {"num_false_positives_field": "fp"},
    {"num_false_negatives_field": "fn"},
)
METRICS: dict[str, dict[str, str]] = {
    "precision": {"type": "precision", **HITS, **FALSE_ALARMS},
    "recall": {"type": "recall", **HITS, **MISSES},
    "f1_score": {"type": "f1_score", **HITS, **FALSE_ALARMS, **MISSES},
}
every_metric = pytest.mark.parametrize("name", METRICS)


@pytest.mark.parametrize(
    ("name", "expected", "method"),
    [
        ("precision", 4 / 7, "wilson_beta"),
        ("recall", 4 / 8, "wilson_beta"),
        ("f1_score", 8 / 15, "wilson_effective"),
    ],
)
def test_counts_are_summed_over_samples_first(name: str, expected: float, method: str, measure: Measure) -> None:
    value = measure(METRICS[name], ROWS).values[name]
    assert value.value == pytest.approx(expected)
    assert value.n == 3
    assert value.interval is not None
    assert value.interval.method == method


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_ten_or_more_in_the_denominator_keep_the_score_interval(name: str, measure: Measure) -> None:
    value = measure(METRICS[name], ROWS * 4).values[name]
    assert value.interval is not None
    assert value.interval.method == "wilson_effective"


@every_metric
def test_without_anything_to_count_it_is_undefined(name: str, measure: Measure) -> None:
    value = measure(METRICS[name] | {"name": "Ours"}, [{"tp": 0, "fp": 0, "fn": 0}]).values["Ours"]
    assert value.value is None
    assert value.reason is not None
    assert "= 0" in value.reason


@every_metric
def test_a_sample_that_lacks_a_count_is_left_out(name: str, measure: Measure) -> None:
    assert measure(METRICS[name], [*ROWS, {"tp": 5}]).n_excluded == 1


@every_metric
def test_a_negative_count_is_an_error(name: str, measure: Measure) -> None:
    with pytest.raises(SpecError, match='the field "tp" counts something, but holds -1'):
        measure(METRICS[name], [{"tp": -1, "fp": 0, "fn": 0}])


def test_a_perfect_f1_of_15_has_the_known_lower_bound(measure: Measure) -> None:
    value = measure(METRICS["f1_score"], [{"tp": 1, "fp": 0, "fn": 0}] * 15).values["f1_score"]
    assert value.value == 1.0
    assert value.interval is not None
    assert value.interval.low == pytest.approx(0.8865, abs=5e-5)


def test_counts_may_be_zero_but_not_negative() -> None:
    builder = TableBuilder(["hits", "misses"])
    builder.add([{"hits": 0, "misses": 2}, {"hits": 1, "misses": -3}], [{}, {}])
    table = builder.build()
    assert sorted(counts(table, "hits").columns[0].tolist()) == [0.0, 1.0]
    with pytest.raises(SpecError, match='"misses" counts something, but holds -3'):
        counts(table, "hits", "misses")
