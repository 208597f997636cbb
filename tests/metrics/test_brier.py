from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.metrics import brier_score_loss

from assay.errors import SpecError
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


METRIC = {"type": "brier", "field_prob": "p", "field_gt": "y"}


def pairs(*given: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"p": p, "y": y} for p, y in given]


def test_it_is_the_mean_squared_distance(measure: Measure) -> None:
    found = measure(METRIC, pairs((0.9, 1), (0.2, False), (1.0, True), (0.5, 0), (None, 1)))
    value = found.values["brier"]
    assert value.value == pytest.approx((0.01 + 0.04 + 0 + 0.25) / 4)
    assert (value.n, found.n_excluded) == (4, 1)
    assert value.interval is not None
    assert value.interval.method == "wilson_effective"


def test_it_is_that_of_scikit_learn(measure: Measure) -> None:
    probabilities, truth = [0.1, 0.4, 0.35, 0.8, 0.99], [0, 0, 1, 1, 0]
    value = measure(METRIC, pairs(*zip(probabilities, truth, strict=True))).values["brier"]
    assert value.value == pytest.approx(brier_score_loss(truth, probabilities))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((1.2, 1), 'the field "p" must hold probabilities, but holds 1.2'),
        ((0.5, 2), 'the field "y" must hold 0, 1, true or false, but holds 2'),
    ],
)
def test_other_values_are_errors(row: tuple[Any, Any], message: str, measure: Measure) -> None:
    with pytest.raises(SpecError, match=message):
        measure(METRIC, pairs((0.5, 1), row))
