"""The mean of a function of one value, as a metric and sample by sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.metrics.compute import compute, fields_of
from assay.metrics.sample_function import number_in_range
from assay.metrics.table import TableBuilder
from assay.registry import MetricKind
from assay.types import MetricResult


@assay.metric(per_sample=True, range=(0, 1))
def reaches(value: float, threshold: float = 0.5) -> float | None:
    "The share of samples whose value reaches the threshold."
    if value < 0:
        raise ValueError("a negative value")
    return None if value > 10 else 7.0 if value == 10 else float(value >= threshold)


@assay.metric(per_sample=True)
def letters(label: str) -> float:
    "The mean length of a label."
    return len(label)


def _result(kind: MetricKind, rows: list[dict[str, Any]], clusters: list[int] | None = None) -> MetricResult:
    settings: Any = kind.settings.model_validate({"type": kind.name, "field": "v"})
    builder = TableBuilder(fields_of(settings).values())
    builder.add(rows, [{}] * len(rows), clusters=clusters)
    return compute(kind, settings, builder.build(), seed=5, address="scorer/metric")


@pytest.mark.parametrize("clusters", [None, [i // 3 for i in range(60)]])
@pytest.mark.parametrize("kind", [reaches, letters], ids=lambda kind: kind.name)
def test_the_metric_is_the_mean_of_what_is_read_of_each_sample(kind: MetricKind, clusters: list[int] | None) -> None:
    random = np.random.default_rng(3)
    rows: list[dict[str, Any]] = [{"v": float(random.integers(-1, 14)) / 1} for _ in range(58)] + [{}, {"v": None}]
    result = _result(kind, rows, clusters)
    (value,) = result.values.values()
    assert kind.per_sample is not None
    per_sample = kind.per_sample(kind.settings.model_construct(type=kind.name, field="v"))
    numbers = [number for row in rows if (number := per_sample.read(row)) is not None]
    assert (value.value, value.n) == (pytest.approx(np.mean(numbers)), len(numbers))
    assert result.n_excluded == 60 - len(numbers)
    assert value.interval is not None
    assert value.interval.method.startswith("wilson" if kind is reaches else "bootstrap")


def test_a_value_that_the_function_cannot_take_is_excluded_and_the_first_error_is_kept() -> None:
    result = _result(reaches, [{"v": -1.0}, {"v": 0.7}, {"v": 10.0}, {"v": 11.0}])
    (value,) = result.values.values()
    assert (value.value, value.n, result.n_excluded) == (1.0, 1, 3)
    assert result.detail == {"error": "ValueError: a negative value"}


def test_without_any_number_the_metric_is_undefined_for_the_functions_reason() -> None:
    result = _result(reaches, [{"v": -1.0}])
    (value,) = result.values.values()
    assert (value.value, value.reason) == (None, "ValueError: a negative value")
    assert _result(reaches, [{"v": 11.0}]).values["v_reaches"].reason == "no sample has a value"


@pytest.mark.parametrize(("value", "words"), [(2, "outside its range from 0 to 1"), (float("nan"), "is nan")])
def test_a_number_outside_its_range_is_refused(value: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        number_in_range("v", value, (0.0, 1.0))
    assert number_in_range("v", True, None) == 1.0
