from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


def column(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


LABEL = {"type": "frequency", "field": "label"}


def test_the_shares_of_all_values_sum_to_1(measure: Measure) -> None:
    found = measure(LABEL, column("label", ["a", "b", "a", None, "c"]))
    assert {name: value.value for name, value in found.values.items()} == {
        "label_a": 0.5,
        "label_b": 0.25,
        "label_c": 0.25,
    }
    assert found.n_excluded == 1


def test_values_are_told_apart_by_their_text(measure: Measure) -> None:
    found = measure(LABEL, column("label", [1, 1.0, True, "1"]))
    assert {name: value.value for name, value in found.values.items()} == {
        "label_1": 0.5,
        "label_1.0": 0.25,
        "label_True": 0.25,
    }


def test_simultaneous_intervals_are_wider(measure: Measure) -> None:
    rows = column("label", ["a"] * 6 + ["b"] * 3 + ["c"])
    alone = measure(LABEL, rows).values["label_a"].interval
    together = measure(LABEL | {"simultaneous": True}, rows).values["label_a"].interval
    assert alone is not None
    assert together is not None
    assert together.level == pytest.approx(1 - 0.05 / 3)
    assert together.low < alone.low  # type: ignore[operator]
    assert together.high > alone.high  # type: ignore[operator]


def test_a_single_value_has_the_share_1_and_a_width(measure: Measure) -> None:
    value = measure(LABEL, column("label", ["a"] * 5)).values["label_a"]
    assert value.value == 1.0
    assert value.interval is not None
    assert value.interval.low == pytest.approx(0.5655, abs=1e-4)
