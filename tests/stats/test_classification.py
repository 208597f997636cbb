from __future__ import annotations

import math

import numpy as np
import pytest

from assay.stats import classification
from assay.stats.classification import Pairs, accuracy, binary, marginals, one_class


def pairs(truth: list[int], predicted: list[int], classes: int = 2, **more: np.ndarray) -> Pairs:
    return Pairs(np.array(truth, dtype=np.int64), np.array(predicted, dtype=np.int64), classes, **more)


def test_counts_stand_for_that_many_pairs() -> None:
    short = pairs([0, 1], [0, 0], counts=np.array([3, 2]))
    assert short.n == 5
    assert short.confusion().tolist() == [[3, 0], [2, 0]]
    assert binary(short) == binary(pairs([0, 0, 0, 1, 1], [0, 0, 0, 0, 0]))


def test_without_any_positive_only_accuracy_is_defined() -> None:
    found = binary(pairs([0, 0, 0], [0, 0, 0]))
    assert found["accuracy"].value == 1.0
    assert {name: (value.value, value.reason) for name, value in found.items() if name != "accuracy"} == {
        "precision": (None, "it was never predicted (TP + FP = 0)"),
        "recall": (None, "it is never the truth (TP + FN = 0)"),
        "f1_score": (None, "TP + FP + FN = 0"),
    }


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ([1, 0], [0, 0], {"precision": None, "recall": 0.0, "f1_score": 0.0}),
        ([0, 0], [1, 0], {"precision": 0.0, "recall": None, "f1_score": 0.0}),
        ([1, 0], [0, 1], {"precision": 0.0, "recall": 0.0, "f1_score": 0.0}),
    ],
)
def test_each_ratio_is_undefined_only_by_its_own_denominator(
    truth: list[int], predicted: list[int], expected: dict[str, float | None]
) -> None:
    found = binary(pairs(truth, predicted))
    assert {name: found[name].value for name in expected} == expected


def test_accuracy_of_nothing_is_undefined() -> None:
    assert accuracy(pairs([], [])).reason == "no sample has a value"


def test_one_class_against_the_others() -> None:
    precision, recall, f1 = one_class(pairs([0, 1, 2, 2], [0, 2, 2, 1], 3), 2)
    assert (precision.value, recall.value, f1.value) == (0.5, 0.5, pytest.approx(0.5))


def test_clusters_reach_the_intervals() -> None:
    truth, predicted = [1, 1, 0, 0] * 5, [1, 0, 0, 0] * 5
    found = binary(pairs(truth, predicted, clusters=np.repeat(np.arange(5), 4)))
    assert found["accuracy"].interval is not None
    assert found["accuracy"].interval.clusters == 5


@pytest.mark.parametrize("statistic", [classification.kappa, classification.matthews])
def test_one_class_only_has_no_kappa_and_no_correlation(statistic: classification.Statistic) -> None:
    assert math.isnan(float(statistic(marginals([[5, 0], [0, 0]]))))


def test_an_undefined_class_ratio_enters_the_plain_mean_as_0() -> None:
    table = [[2, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert float(classification.macro_precision(marginals(table))) == pytest.approx(2 / 3)
    assert float(classification.macro_recall(marginals(table))) == pytest.approx(2 / 3)
    assert float(classification.macro_f1(marginals(table))) == pytest.approx(2 / 3)
    assert float(classification.weighted_f1(marginals(table))) == 1.0
