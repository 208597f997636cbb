from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def test_the_median_is_the_middle_with_the_enclosing_order_statistics(measure: Measure) -> None:
    value = measure({"type": "median", "field": "x"}, column("x", list(range(1, 11)))).values["x_median"]
    assert value.value == 5.5
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (2.0, 9.0)
    assert value.interval.method == "order_statistics"


@pytest.mark.parametrize(("q", "name", "value"), [(95, "x_p95", 94.05), (99.5, "x_p99.5", 98.505), (0, "x_p0", 0.0)])
def test_a_percentile_is_linear_between_values_and_named_after_q(
    q: float, name: str, value: float, measure: Measure
) -> None:
    result = measure({"type": "percentile", "field": "x", "q": q}, column("x", list(range(100))))
    assert result.values[name].value == pytest.approx(value)


def test_a_bound_that_is_unavailable_is_none(measure: Measure) -> None:
    value = measure({"type": "percentile", "field": "x", "q": 95}, column("x", list(range(50)))).values["x_p95"]
    assert value.interval is not None
    assert value.interval.low is not None
    assert value.interval.high is None


@pytest.mark.parametrize("q", [-1, 101, "95"])
def test_q_is_a_percentage(q: Any, measure: Measure) -> None:
    with pytest.raises(ValueError, match="q"):
        measure({"type": "percentile", "field": "x", "q": q}, column("x", [1]))
