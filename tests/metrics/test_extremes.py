from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]
both = pytest.mark.parametrize("name", ["max", "min"])


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


@pytest.mark.parametrize(("name", "word", "expected"), [("max", "maximum", 7.0), ("min", "minimum", -1.0)])
def test_it_has_no_interval_and_says_so(name: str, word: str, expected: float, measure: Measure) -> None:
    result = measure({"type": name, "field": "x"}, column("x", [3, -1.0, 7.0, True, None, 7]))
    value = result.values[f"x_{name}"]
    assert (value.value, value.n, result.n_excluded) == (expected, 5, 1)
    assert value.interval is not None
    assert (value.interval.low, value.interval.high) == (None, None)
    assert value.interval.caveat == f"no interval for a {word}"


@both
def test_of_nothing_it_is_undefined(name: str, measure: Measure) -> None:
    value = measure({"type": name, "field": "x", "name": "Edge"}, column("x", [None])).values["Edge"]
    assert (value.value, value.reason) == (None, "no sample has a value")


@both
def test_text_is_an_error(name: str, measure: Measure) -> None:
    with pytest.raises(SpecError, match="holds text"):
        measure({"type": name, "field": "x"}, column("x", ["high"]))
