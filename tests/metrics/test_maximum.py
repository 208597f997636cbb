from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def test_it_is_the_maximum_without_an_interval_and_says_so(measure: Measure) -> None:
    found = measure({"type": "max", "field": "x"}, column("x", [3, -1.0, 7.0, True, None, 7]))
    value = found.values["x_max"]
    assert (value.value, value.n, found.n_excluded) == (7.0, 5, 1)
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (None, None)
    assert value.interval.caveat == "no interval for a maximum"


def test_of_nothing_it_is_undefined(measure: Measure) -> None:
    value = measure({"type": "max", "field": "x", "name": "Edge"}, column("x", [None])).values["Edge"]
    assert (value.value, value.reason) == (None, "no sample has a value")


def test_text_is_an_error(measure: Measure) -> None:
    with pytest.raises(SpecError, match="holds text"):
        measure({"type": "max", "field": "x"}, column("x", ["high"]))
