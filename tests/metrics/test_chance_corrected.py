from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


every_metric = pytest.mark.parametrize("name", ["cohens_kappa", "matthews_corrcoef"])


def metric(name: str) -> dict[str, str]:
    return {"type": name, "field_gt": "gt", "field_pred": "pred"}


def pairs(*answers: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"gt": gt, "pred": pred} for gt, pred in answers]


ROWS = pairs(*[("y", "y")] * 20, *[("y", "n")] * 5, *[("n", "y")] * 10, *[("n", "n")] * 15)


@pytest.mark.parametrize(("name", "expected"), [("cohens_kappa", 0.4), ("matthews_corrcoef", 0.4082)])
def test_the_textbook_table(name: str, expected: float, measure: Measure) -> None:
    value = measure(metric(name), ROWS).values[name]
    assert value.value == pytest.approx(expected, abs=1e-4)
    assert value.interval is not None
    assert value.interval.method == "bayesian_bootstrap"
    assert value.interval.low < value.value < value.interval.high  # type: ignore[operator]


@every_metric
def test_one_class_only_is_undefined(name: str, measure: Measure) -> None:
    value = measure(metric(name) | {"name": "Ours"}, pairs(("y", "y"), ("y", "y"))).values["Ours"]
    assert (value.value, value.reason) == (None, "truth or prediction has one class only")


@every_metric
def test_perfect_agreement_has_a_width(name: str, measure: Measure) -> None:
    value = measure(metric(name), pairs(("y", "y"), ("n", "n")) * 10).values[name]
    assert value.value == 1.0
    assert value.interval is not None
    assert value.interval.low < 0.95  # type: ignore[operator]


@every_metric
def test_samples_without_both_are_left_out(name: str, measure: Measure) -> None:
    assert measure(metric(name), [*ROWS, {"gt": "y"}]).n_excluded == 1
