from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


RATING = {"type": "weighted_average", "field": "label", "weights": {"good": 1, "fair": 0.5, "bad": 0}}


def test_it_is_the_sum_of_the_weights_over_the_count(measure: Measure) -> None:
    found = measure(RATING, column("label", ["good", "good", "fair", "bad", None]))
    value = found.values["label_weighted_average"]
    assert (value.value, value.n, found.n_excluded) == (0.625, 4, 1)
    assert value.interval is not None
    assert value.interval.method == "guarded"


def test_the_weights_are_the_range_of_the_values(measure: Measure) -> None:
    metric = RATING | {"weights": {"good": 5, "bad": 1}, "name": "Stars"}
    value = measure(metric, column("label", ["good"] * 8)).values["Stars"]
    assert value.interval is not None
    assert value.interval.high == 5.0
    assert value.interval.low == pytest.approx(1 + 4 * 8 / (8 + 1.959964**2), abs=1e-5)


def test_an_unknown_label_is_an_error_that_names_it(measure: Measure) -> None:
    with pytest.raises(SpecError) as caught:
        measure(RATING, column("label", ["good", "Good", "awful"]))
    assert [problem.message for problem in caught.value.problems] == [
        'the label "Good" of the field "label" has no weight',
        'the label "awful" of the field "label" has no weight',
    ]
    assert caught.value.problems[0].suggestion == "good"


@pytest.mark.parametrize("weights", [{}, {"good": float("inf")}, {"good": "1"}])
def test_weights_are_numbers_and_at_least_one(weights: dict[str, Any], measure: Measure) -> None:
    with pytest.raises(ValueError, match="weights"):
        measure(RATING | {"weights": weights}, column("label", ["good"]))


@pytest.mark.parametrize("weight", [0, 1, 0.5])
def test_equal_weights_have_no_interval_that_pretends_to_know_something(measure: Measure, weight: float) -> None:
    metric = {"type": "weighted_average", "field": "label", "weights": {"good": weight, "bad": weight}}
    value = measure(metric, column("label", ["good", "good", "bad", "bad"])).values["label_weighted_average"]
    assert (value.value, value.n) == (weight, 4)
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (None, None)
    assert value.interval.caveat == "all weights are equal: the value cannot vary"
