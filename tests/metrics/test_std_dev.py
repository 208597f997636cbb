from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def test_it_divides_by_n_minus_1(measure: Measure) -> None:
    value = measure({"type": "std_dev", "field": "x"}, column("x", [1.0, 3.0])).values["x_std_dev"]
    assert value.value == pytest.approx(2**0.5)
    assert value.interval is not None
    assert value.interval.caveat == "rough"


def test_of_one_value_it_is_undefined(measure: Measure) -> None:
    value = measure({"type": "std_dev", "field": "x", "name": "Spread"}, column("x", [1.0])).values["Spread"]
    assert (value.value, value.reason) == (None, "a standard deviation needs at least 2 values")
