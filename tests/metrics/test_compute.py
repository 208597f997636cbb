from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.errors import Place, SpecError
from assay.metrics.compute import NOTHING_SCORED, coarsen, compute, fields_of, labels_of
from assay.metrics.kinds import KINDS
from assay.metrics.mean import KIND as MEAN
from assay.metrics.table import TableBuilder, TableColumn
from assay.spec.fields import Located
from assay.types import MetricResult

Measure = Callable[..., MetricResult]
ACCURACY = {"type": "mean", "field": "is_correct", "name": "accuracy"}


def rows(values: list[float]) -> list[dict[str, Any]]:
    return [{"is_correct": value} for value in values]


def test_a_field_that_no_sample_has_is_an_error_that_names_those_there_are(measure: Measure) -> None:
    with pytest.raises(SpecError) as caught:
        measure({"type": "mean", "field": "is_corect"}, rows([1.0]), metadata=[{"answer_gt": "A"}])
    (problem,) = caught.value.problems
    assert problem.message == 'no sample has the field "is_corect"; there are: answer_gt, is_correct'
    assert problem.suggestion == "is_correct"


def test_the_error_stands_at_the_field_in_the_file() -> None:
    place = Place("task.yaml", 12, 16)
    settings = MEAN.settings.model_validate({"type": "mean", "field": Located("scroe", place)})
    builder = TableBuilder(["scroe"])
    builder.add([{"score": 1.0}], [{}])
    with pytest.raises(SpecError) as caught:
        compute(MEAN, settings, builder.build(), seed=1, address="a/b")
    assert caught.value.problems[0].place == place
    assert 'did you mean "score"?' in str(caught.value)


def test_all_missing_fields_are_named_at_once(measure: Measure) -> None:
    metric = {"type": "cohens_kappa", "field_gt": "p", "field_pred": "q"}
    with pytest.raises(SpecError) as caught:
        measure(metric, rows([1.0]))
    assert len(caught.value.problems) == 2


def test_text_in_a_numeric_metric_names_the_field_and_the_place() -> None:
    place = Place("task.yaml", 3, 9)
    settings = MEAN.settings.model_validate({"type": "mean", "field": Located("score", place)})
    builder = TableBuilder(["score"])
    builder.add([{"score": "good"}], [{}])
    with pytest.raises(SpecError, match='"score" holds text') as caught:
        compute(MEAN, settings, builder.build(), seed=1, address="a/b")
    assert caught.value.problems[0].place == place


def test_samples_without_the_field_are_left_out_and_counted(measure: Measure) -> None:
    found = measure(ACCURACY, [{"is_correct": 1.0}, {"other": 2}, {"is_correct": None}, {"is_correct": 0.0}])
    assert found.n_excluded == 2
    assert found.values["accuracy"].value == 0.5
    assert found.values["accuracy"].n == 2


def test_a_field_that_holds_nothing_gives_no_value_and_no_error(measure: Measure) -> None:
    found = measure(ACCURACY, [{"is_correct": None}, {"is_correct": float("nan")}])
    assert found.values["accuracy"].value is None
    assert found.values["accuracy"].reason == "no sample has a value"
    assert found.n_excluded == 2


def test_groups_get_the_same_metric_sorted_by_name(measure: Measure) -> None:
    source = "{{ sample.subject }}"
    found = measure(
        ACCURACY | {"group_by": source},
        rows([1, 0, 1, 1, 0]),
        labels={source: ["law", "art", "law", None, "art"]},
    )
    assert found.values["accuracy"].value == 0.6
    assert found.groups is not None
    assert list(found.groups) == ["art", "law"]
    assert {name: values["accuracy"].value for name, values in found.groups.items()} == {"art": 0.0, "law": 1.0}
    assert found.groups["law"]["accuracy"].n == 2
    assert found.groups["law"]["accuracy"].interval == measure(ACCURACY, rows([1, 1])).values["accuracy"].interval


def test_a_group_without_values_is_undefined_and_the_others_stand(measure: Measure) -> None:
    found = measure(ACCURACY | {"group_by": "g"}, [{"is_correct": 1.0}, {"is_correct": None}], labels={"g": ["a", "b"]})
    assert found.groups is not None
    assert found.groups["a"]["accuracy"].value == 1.0
    assert found.groups["b"]["accuracy"].value is None


def test_cluster_by_widens_the_interval(measure: Measure) -> None:
    values = rows([1.0, 1.0, 0.0, 0.0] * 10)
    plain = measure(ACCURACY, values).values["accuracy"].interval
    wide = (
        measure(ACCURACY | {"cluster_by": "c"}, values, labels={"c": [str(i // 2) for i in range(40)]})
        .values["accuracy"]
        .interval
    )
    assert plain is not None
    assert wide is not None
    assert wide.clusters == 20
    assert wide.n_effective == 20.0
    assert wide.high - wide.low > 1.3 * (plain.high - plain.low)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("clusters", "labels", "expected"),
    [
        (None, [0, 0, 1, -1, -1], [0, 0, 2, 3, 4]),
        ([5, 5, 6, 6, 7], [0, 1, 1, 2, -1], [0, 0, 0, 0, 2]),
        ([1, 2, 3, 3, 9], [-1, -1, -1, -1, -1], [0, 1, 2, 2, 3]),
        ([1, 1, 2, 2, 3], [0, 1, 1, 2, 2], [0, 0, 0, 0, 0]),
    ],
)
def test_clusters_are_only_ever_joined(clusters: list[int] | None, labels: list[int], expected: list[int]) -> None:
    column = TableColumn(codes=np.array(labels, dtype=np.int32), distinct=("p", "q", "r"))
    given = None if clusters is None else np.array(clusters)
    assert coarsen(given, column).tolist() == expected


def test_another_seed_or_address_moves_a_random_interval_a_little() -> None:
    settings = MEAN.settings.model_validate({"type": "mean", "field": "x"})
    builder = TableBuilder(["x"])
    builder.add([{"x": float(value)} for value in range(20)], [{}] * 20)
    table = builder.build()
    lows = {
        compute(MEAN, settings, table, seed=seed, address=address).values["x_mean"].interval
        for seed, address in [(1, "a/b"), (1, "a/b"), (2, "a/b"), (1, "a/c")]
    }
    assert len(lows) == 3


def test_the_level_reaches_every_interval(measure: Measure) -> None:
    found = measure(ACCURACY, rows([1, 0, 1]), level=0.8).values["accuracy"].interval
    assert found is not None
    assert found.level == 0.8


def test_the_fields_and_labels_of_settings_are_found_by_their_names() -> None:
    kinds = {kind.name: kind for kind in KINDS}
    settings = kinds["f1_score"].settings.model_validate(
        {
            "type": "f1_score",
            "num_true_positives_field": "tp",
            "num_false_negatives_field": "fn",
            "num_false_positives_field": "fp",
            "group_by": "{{ sample.g }}",
            "cluster_by": "{{ sample.c }}",
        }
    )
    assert sorted(fields_of(settings).values()) == ["fn", "fp", "tp"]
    assert labels_of(settings) == ["{{ sample.g }}", "{{ sample.c }}"]


def test_groups_of_nothing_are_none_at_all(measure: Measure) -> None:
    found = measure(ACCURACY | {"group_by": "g"}, [])
    assert found.groups == {}
    assert found.values["accuracy"].reason == NOTHING_SCORED
