from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


ROWS: list[dict[str, Any]] = [{"tp": 3, "fp": 1, "fn": 0}, {"tp": 0, "fp": 2, "fn": 3}, {"tp": 1, "fp": 0, "fn": 1}]
METRIC = {"type": "recall", "num_true_positives_field": "tp", "num_false_negatives_field": "fn"}


def test_counts_are_summed_over_samples_first(measure: Measure) -> None:
    value = measure(METRIC, ROWS).values["recall"]
    assert value.value == pytest.approx(4 / 8)
    assert value.n == 3
    assert value.interval is not None
    assert value.interval.method == "wilson_beta"


def test_ten_or_more_in_the_denominator_keep_the_score_interval(measure: Measure) -> None:
    value = measure(METRIC, ROWS * 4).values["recall"]
    assert value.interval is not None
    assert value.interval.method == "wilson_effective"


def test_without_anything_to_count_it_is_undefined(measure: Measure) -> None:
    value = measure(METRIC | {"name": "Ours"}, [{"tp": 0, "fp": 0, "fn": 0}]).values["Ours"]
    assert value.value is None
    assert value.reason is not None
    assert "= 0" in value.reason


def test_a_sample_that_lacks_a_count_is_left_out(measure: Measure) -> None:
    assert measure(METRIC, [*ROWS, {"tp": 5}]).n_excluded == 1


def test_a_negative_count_is_an_error(measure: Measure) -> None:
    with pytest.raises(SpecError, match='the field "tp" counts something, but holds -1'):
        measure(METRIC, [{"tp": -1, "fp": 0, "fn": 0}])
