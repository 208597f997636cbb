from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.metrics.binary_classification import KIND, per_sample
from assay.types import MetricResult

Measure = Callable[..., MetricResult]


METRIC = {
    "type": "binary-classification",
    "field_gt": "gt",
    "field_pred": "pred",
    "positive_answer": "yes",
    "negative_answer": "no",
}


def pairs(*given: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"gt": gt, "pred": pred} for gt, pred in given]


def test_the_four_values_and_the_confusion(measure: Measure) -> None:
    rows = pairs(("yes", "yes"), ("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"))
    found = measure(METRIC, rows)
    assert {name: value.value for name, value in found.values.items()} == pytest.approx(
        {"accuracy": 0.6, "precision": 2 / 3, "recall": 2 / 3, "f1_score": 2 / 3}
    )
    assert found.detail == {
        "confusion": {"tp": 2, "fp": 1, "tn": 1, "fn": 1},
        "answers": {"positive": "yes", "negative": "no"},
        "n_excluded": 0,
    }


def test_a_sample_where_either_is_neither_answer_is_left_out_of_all_of_it(measure: Measure) -> None:
    rows = pairs(("yes", "yes"), ("yes", "perhaps"), ("Yes", "yes"), ("no", None), ("no", "no"))
    found = measure(METRIC, rows)
    assert found.n_excluded == found.detail["n_excluded"] == 3
    assert {value.value for value in found.values.values()} == {1.0}
    assert {name: value.n for name, value in found.values.items()} == {
        "accuracy": 2,
        "precision": 1,
        "recall": 1,
        "f1_score": 1,
    }, "n counts the samples that a value is made of"


@pytest.mark.parametrize(
    ("positive", "negative", "values"),
    [("3", "4", (3, 4)), ("1.0", "0.0", (1.0, 0.0)), ("True", "False", (True, False))],
)
def test_values_are_compared_as_text(positive: str, negative: str, values: tuple[Any, Any], measure: Measure) -> None:
    metric = METRIC | {"positive_answer": positive, "negative_answer": negative}
    found = measure(metric, pairs((values[0], positive), (values[1], values[1]), (values[0], values[1])))
    assert found.detail["confusion"] == {"tp": 1, "fp": 0, "tn": 1, "fn": 1}


def test_true_is_not_the_text_1(measure: Measure) -> None:
    metric = METRIC | {"positive_answer": "1", "negative_answer": "0"}
    assert measure(metric, pairs((True, "1"), (1, 1))).n_excluded == 1


def test_without_any_positive_all_but_accuracy_are_undefined(measure: Measure) -> None:
    found = measure(METRIC, pairs(("no", "no"), ("no", "no"))).values
    assert found["accuracy"].value == 1.0
    for name in ("precision", "recall", "f1_score"):
        assert found[name].value is None
        assert found[name].reason is not None


def test_nothing_left_is_undefined(measure: Measure) -> None:
    found = measure(METRIC, pairs(("a", "b")))
    assert {value.value for value in found.values.values()} == {None}
    assert found.values["accuracy"].reason == "no sample has a value"


def test_the_two_answers_differ(measure: Measure) -> None:
    with pytest.raises(ValueError, match="are the same"):
        measure(METRIC | {"negative_answer": "yes"}, pairs(("yes", "no")))


def test_fields_may_stand_in_the_metadata(measure: Measure) -> None:
    found = measure(METRIC, [{"x": 1.0}, {"x": 0.0}], metadata=pairs(("yes", "yes"), ("no", "no")))
    assert found.values["accuracy"].value == 1.0


UNMATCHED = pairs(("yes", "yes"), ("no", "no"), ("yes", "perhaps"), ("no", "perhaps"), ("no", None), ("?", "yes"))


@pytest.mark.parametrize(
    ("unmatched", "confusion", "n_unmatched", "n_excluded"),
    [
        ("exclude", {"tp": 1, "fp": 0, "tn": 1, "fn": 0}, None, 4),
        ("negative", {"tp": 1, "fp": 0, "tn": 3, "fn": 1}, 3, 1),
        ("wrong", {"tp": 1, "fp": 2, "tn": 1, "fn": 1}, 3, 1),
    ],
)
def test_unmatched_says_what_a_prediction_is_that_is_neither_answer(
    measure: Measure, unmatched: str, confusion: dict[str, int], n_unmatched: int | None, n_excluded: int
) -> None:
    found = measure(METRIC | {"unmatched": unmatched}, UNMATCHED)
    assert found.detail["confusion"] == confusion
    assert found.detail.get("n_unmatched") == n_unmatched
    assert found.n_excluded == n_excluded


@pytest.mark.parametrize("unmatched", ["exclude", "negative", "wrong"])
def test_the_numbers_of_samples_make_the_accuracy(measure: Measure, unmatched: str) -> None:
    metric = METRIC | {"unmatched": unmatched}
    numbers = [per_sample(KIND.settings.model_validate(metric)).read(row) for row in UNMATCHED]
    present = [number for number in numbers if number is not None]
    assert measure(metric, UNMATCHED).values["accuracy"].value == pytest.approx(sum(present) / len(present))


def test_the_many_rows_of_one_combination_are_all_counted(measure: Measure) -> None:
    found = measure(METRIC | {"unmatched": "wrong"}, UNMATCHED * 50)
    assert found.detail["n_unmatched"] == 150
