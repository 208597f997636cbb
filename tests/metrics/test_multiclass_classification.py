from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.types import MetricResult

Measure = Callable[..., MetricResult]


METRIC: dict[str, Any] = {"type": "multiclass-classification", "field_gt": "gt", "field_pred": "pred"}


def pairs(*given: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"gt": gt, "pred": pred} for gt, pred in given]


ROWS = pairs(("a", "a"), ("a", "b"), ("b", "b"), ("c", "b"))


def test_all_values_are_there_by_name(measure: Measure) -> None:
    found = measure(METRIC, ROWS)
    assert {name: value.value for name, value in found.values.items()} == {
        "accuracy": 0.5,
        "a_precision": 1.0,
        "a_recall": 0.5,
        "a_f1": pytest.approx(2 / 3),
        "b_precision": pytest.approx(1 / 3),
        "b_recall": 1.0,
        "b_f1": pytest.approx(0.5),
        "c_precision": None,
        "c_recall": 0.0,
        "c_f1": 0.0,
        "macro_precision": pytest.approx(4 / 9),
        "macro_recall": pytest.approx(0.5),
        "macro_f1": pytest.approx(7 / 18),
        "weighted_f1": pytest.approx((2 * 2 / 3 + 0.5) / 4),
    }


def test_the_detail_shows_confusion_support_and_what_entered_as_0(measure: Measure) -> None:
    assert measure(METRIC, ROWS).detail == {
        "confusion": {"a": {"a": 1, "b": 1, "c": 0}, "b": {"a": 0, "b": 1, "c": 0}, "c": {"a": 0, "b": 1, "c": 0}},
        "support": {"a": 2, "b": 1, "c": 1},
        "undefined": {"precision": ["c"], "recall": []},
        "n_excluded": 0,
    }


def test_labels_fix_the_classes_and_leave_out_the_rest(measure: Measure) -> None:
    found = measure(METRIC | {"labels": ["b", "a", "z"]}, ROWS)
    assert found.n_excluded == 1
    assert found.detail["support"] == {"b": 1, "a": 2, "z": 0}
    assert found.detail["undefined"] == {"precision": ["z"], "recall": ["z"]}
    assert found.values["macro_recall"].value == pytest.approx(0.5)
    assert found.values["z_f1"].value is None


def test_classes_that_occur_only_in_rows_left_out_are_no_classes(measure: Measure) -> None:
    found = measure(METRIC, [*ROWS, {"gt": "rare"}])
    assert "rare_f1" not in found.values
    assert found.values["macro_f1"].value == pytest.approx(7 / 18)


def test_a_class_called_macro_does_not_hide_the_average(measure: Measure) -> None:
    found = measure(METRIC, pairs(("macro", "macro"), ("b", "macro"))).values
    assert found["class macro_precision"].value == 0.5
    assert found["macro_precision"].value == 0.25


def test_averages_have_a_bayesian_bootstrap_interval(measure: Measure) -> None:
    found = measure(METRIC, ROWS * 10).values
    for name in ("macro_precision", "macro_recall", "macro_f1", "weighted_f1"):
        interval = found[name].interval
        assert interval is not None
        assert interval.method == "bayesian_bootstrap"
        assert interval.low < found[name].value < interval.high  # type: ignore[operator]


@pytest.mark.parametrize(("copies", "caveat"), [(9, "small classes"), (10, None)])
def test_plain_means_over_small_classes_carry_a_caveat(copies: int, caveat: str | None, measure: Measure) -> None:
    rows = pairs(("a", "a"), ("b", "b")) * copies + pairs(("a", "a")) * 20
    found = measure(METRIC, rows).values
    for name in ("macro_precision", "macro_recall", "macro_f1"):
        interval = found[name].interval
        assert interval is not None
        assert interval.caveat == caveat
    weighted = found["weighted_f1"].interval
    assert weighted is not None
    assert weighted.caveat is None


def test_both_caveats_are_shown(measure: Measure) -> None:
    interval = measure(METRIC, ROWS * 2, clusters=[0, 0, 1, 1, 2, 2, 3, 3]).values["macro_f1"].interval
    assert interval is not None
    assert interval.caveat == "few clusters; small classes"


def test_the_names_of_declared_labels_are_listed_for_nothing(measure: Measure) -> None:
    assert {"x_precision", "x_recall", "x_f1", "macro_f1"} <= measure(METRIC | {"labels": ["x"]}, []).values.keys()


@pytest.mark.parametrize("labels", [[], ["a", "a"], [1]])
def test_labels_are_distinct_texts(labels: list[Any], measure: Measure) -> None:
    with pytest.raises(ValueError, match="labels"):
        measure(METRIC | {"labels": labels}, ROWS)
