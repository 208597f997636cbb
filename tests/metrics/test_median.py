from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def test_it_is_the_middle_with_the_enclosing_order_statistics(measure: Measure) -> None:
    value = measure({"type": "median", "field": "x"}, column("x", list(range(1, 11)))).values["x_median"]
    assert value.value == 5.5
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (2.0, 9.0)
    assert value.interval.method == "order_statistics"
