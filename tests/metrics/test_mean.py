from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def test_the_value_is_named_after_the_field_unless_it_has_a_name(measure: Measure) -> None:
    rows = column("x", [1.0, 2.0, 6.0])
    assert measure({"type": "mean", "field": "x"}, rows).values["x_mean"].value == 3.0
    assert measure({"type": "mean", "field": "x", "name": "Average"}, rows).values["Average"].value == 3.0


@pytest.mark.parametrize(
    ("values", "ranges", "method"),
    [
        ([1.0, 0.0, True], {}, "wilson"),
        ([1.0, 0.5, 0.0, 0.25], {"x": (0.0, 1.0)}, "wilson_effective"),
        ([1.0, 0.5, 0.0, 0.25], {}, "bootstrap_t"),
        ([1.0, 0.5, 0.0, 0.25], {"y": (0.0, 1.0)}, "bootstrap_t"),
    ],
)
def test_the_declared_range_decides_the_interval(
    values: list[Any], ranges: dict[str, tuple[float, float]], method: str, measure: Measure
) -> None:
    found = measure({"type": "mean", "field": "x"}, column("x", values), ranges=ranges).values["x_mean"]
    assert found.interval is not None
    assert found.interval.method == method


def test_accuracy_of_33_out_of_40(measure: Measure) -> None:
    found = measure({"type": "mean", "field": "x", "name": "accuracy"}, column("x", [1.0] * 33 + [0.0] * 7))
    value = found.values["accuracy"]
    assert (value.value, value.n) == (0.825, 40)
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == pytest.approx((0.6805, 0.9125), abs=1e-3)


def test_text_is_an_error(measure: Measure) -> None:
    with pytest.raises(SpecError, match=r'"x" holds text \("good"\)'):
        measure({"type": "mean", "field": "x"}, column("x", [1.0, "good"]))
