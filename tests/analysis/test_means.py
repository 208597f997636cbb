"""Which numbers of a stored run are means, read from what the run remembers of its task."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from assay.analysis.means import answer_columns, sample_means
from assay.builtin import registry
from assay.interop.numbers import as_number
from assay.store import runs
from assay.store.run_spec import RunSpec
from assay.store.runs import NewRun
from assay.store.store import open_store


def _values(names):
    return orjson.dumps({"values": {name: {} for name in names}}).decode()


@pytest.fixture
def made(tmp_path):
    """Write down a run with a task of one's own and the names of its values."""
    store = open_store(str(tmp_path / "assay.db"))

    def make(task, scorers, metrics):
        spec = RunSpec.from_json(orjson.dumps({"task": task, "scorers": scorers}).decode())
        record = runs.start(store, NewRun(spec=spec, file="f", model=None))
        record = replace(record, spec=spec)
        documents = [
            {"place": i, "scorer": s, "metric": m, "type": t, "document": _values(names)}
            for i, (s, m, t, names) in enumerate(metrics)
        ]
        runs.finish(store, record.no, status="completed", summary="{}", documents=documents)
        return store, record

    yield make
    store.close()


def test_default_metrics_are_those_of_the_scorers_kind(made):
    task = {"definition": {"scorers": [{"type": "model_as_a_judge_scorer", "score_min": 1, "score_max": 5}]}}
    store, record = made(task, ["judge"], [("judge", "mean", "mean", ["score_mean"])])
    (measure,) = sample_means(store, record, registry()).values()
    assert (measure.address, measure.fields, measure.bounds) == ("judge/mean/score_mean", ("score",), (0.0, 1.0))
    assert measure.read({"score": 0.25}) == 0.25


def test_a_run_that_no_file_describes_is_read_by_the_names_of_its_values(made):
    store, record = made({"key": "t"}, ["rubric"], [("rubric", "mean", "mean", ["score"])])
    (measure,) = sample_means(store, record, registry()).values()
    assert measure.fields == ("score",)
    assert measure.read({"score": True}) == 1.0
    assert measure.read({}) is None


def test_labels_have_the_worth_that_the_task_declares(made):
    scorer = {
        "type": "model_as_a_judge_classifier",
        "correct_labels": ["good"],
        "incorrect_labels": ["bad"],
        "metrics": [
            {"type": "mean", "field": "is_correct"},
            {"type": "weighted_average", "field": "predicted_label", "weights": {"good": 2, "bad": -1}},
        ],
    }
    names = [("j", "mean", "mean", ["a"]), ("j", "weighted_average", "weighted_average", ["b"])]
    store, record = made({"definition": {"scorers": [scorer]}}, ["j"], names)
    mean, weighted = sample_means(store, record, registry()).values()
    assert mean.labels == {"good": 1.0, "bad": 0.0}
    assert (weighted.labels, weighted.bounds) == ({"good": 2.0, "bad": -1.0}, (-1, 2))
    assert weighted.read({"predicted_label": "good"}) == 2.0
    assert weighted.read({"predicted_label": "other"}) is None
    assert weighted.read({}) is None


def test_scorers_that_nobody_knows_any_more_and_other_metrics_are_passed_over(made):
    task = {"definition": {"scorers": [{"type": "gone"}, "odd"], "solver": {"trace_column": "reply"}}}
    names = [("x", "max", "max", ["v"]), ("x", "f1", "f1_score", ["f"])]
    store, record = made(task, ["x", "y"], names)
    assert sample_means(store, record, registry()) == {}
    assert answer_columns(record) == {"reply"}


def test_a_metric_of_a_plug_in_that_is_absent_is_passed_over_and_the_means_of_its_scorer_are_read(made):
    task = {"definition": {"scorers": [{"type": "gone", "metrics": [{"type": "mine", "field": "v"}, MEAN]}]}}
    store, record = made(task, ["x"], [("x", "mine", "mine", ["v_mine"]), ("x", "mean", "mean", ["v_mean"])])
    (measure,) = sample_means(store, record, registry()).values()
    assert (measure.address, measure.fields, measure.bounds) == ("x/mean/v_mean", ("v",), None)


MEAN = {"type": "mean", "field": "v"}


def test_an_accuracy_is_read_from_truth_and_prediction(made):
    fields = {"field_gt": "t", "field_pred": "p"}
    metrics = [
        {"type": "binary-classification", "positive_answer": "yes", "negative_answer": "no", **fields},
        {"type": "multiclass-classification", **fields},
        {"type": "multiclass-classification", "labels": ["yes"], **fields},
    ]
    names = [("x", f"m{i}", metric["type"], ["accuracy", "f1"]) for i, metric in enumerate(metrics)]
    store, record = made({"definition": {"scorers": [{"type": "gone", "metrics": metrics}]}}, ["x"], names)
    measures = sample_means(store, record, registry())
    assert list(measures) == ["x/m0/accuracy", "x/m1/accuracy", "x/m2/accuracy"]
    pairs = [("yes", "yes"), ("yes", "no"), ("maybe", "maybe"), ("yes", None)]
    read = [[measure.read({"t": truth, "p": said}) for truth, said in pairs] for measure in measures.values()]
    assert read == [[1.0, 0.0, None, None], [1.0, 0.0, 1.0, None], [1.0, None, None, None]]


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1.0), (True, 1.0), (0.5, 0.5), ("1", None), (None, None), (float("inf"), None)]
)
def test_numbers_are_finite_and_no_text(value, number):
    assert as_number(value) == number
