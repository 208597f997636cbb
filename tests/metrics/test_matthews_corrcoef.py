from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


METRIC = {"type": "matthews_corrcoef", "field_gt": "gt", "field_pred": "pred"}


def pairs(*given: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"gt": gt, "pred": pred} for gt, pred in given]


ROWS = pairs(*[("y", "y")] * 20, *[("y", "n")] * 5, *[("n", "y")] * 10, *[("n", "n")] * 15)


def test_the_textbook_table(measure: Measure) -> None:
    value = measure(METRIC, ROWS).values["matthews_corrcoef"]
    assert value.value == pytest.approx(0.4082, abs=1e-4)
    assert value.interval is not None
    assert value.interval.method == "bayesian_bootstrap"
    assert value.interval.low < value.value < value.interval.high  # type: ignore[operator]


def test_one_class_only_is_undefined(measure: Measure) -> None:
    value = measure(METRIC | {"name": "Ours"}, pairs(("y", "y"), ("y", "y"))).values["Ours"]
    assert (value.value, value.reason) == (None, "truth or prediction has one class only")


def test_perfect_agreement_has_a_width(measure: Measure) -> None:
    value = measure(METRIC, pairs(("y", "y"), ("n", "n")) * 10).values["matthews_corrcoef"]
    assert value.value == 1.0
    assert value.interval is not None
    assert value.interval.low < 0.95  # type: ignore[operator]


def test_samples_without_both_are_left_out(measure: Measure) -> None:
    assert measure(METRIC, [*ROWS, {"gt": "y"}]).n_excluded == 1
