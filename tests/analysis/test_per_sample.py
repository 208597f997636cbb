"""One number a sample: which numbers of a run are means, and which samples belong together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from assay.analysis.columns import Labels, PackedTexts
from assay.analysis.means import SampleMean, answer_columns, sample_means, sample_measures
from assay.analysis.per_sample import ReadOptions, RunSeries, Series, series_of
from assay.api.run import run_file
from assay.builtin import registry
from assay.errors import SpecError
from assay.prepare.plan import Options
from assay.store.runs import find
from assay.store.store import open_store

TASK = """
key: many
display_name: Many
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      value: "{{ sample.said }}"
      metrics:
        - {type: mean, field: is_correct, name: Accuracy}
        - {type: weighted_average, field: answer_pred, weights: {a: 0, b: 0.5, c: 2}}
        - {type: multiclass-classification, field_gt: answer_gt, field_pred: answer_pred}
        - {type: binary-classification, field_gt: answer_gt, field_pred: answer_pred,
           positive_answer: a, negative_answer: b}
        - {type: frequency, field: answer_pred}
        - {type: max, field: is_correct}
    - {type: contains, key: found, substring: a, value: "{{ sample.said }}", purpose: qa}
"""


@pytest.fixture
def stored(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    path = project.write("task.yaml", TASK)
    rows = [("a", "a"), ("b", "a"), ("b", "b"), ("c", "c"), ("c", "b")]
    project.write("data.jsonl", [{"sample_id": f"s{i}", "answer": t, "said": s} for i, (t, s) in enumerate(rows)])
    report, _ = run_file(path, Options())
    store = open_store(str(project.folder / ".assay" / "assay.db"))
    yield store, find(store, report.run), report
    store.close()


def test_means_weighted_averages_and_accuracies_are_read_sample_by_sample(stored):
    store, record, report = stored
    measures = sample_means(store, record, registry())
    assert list(measures) == [
        "string_equals/mean/Accuracy",
        "string_equals/weighted_average/answer_pred_weighted_average",
        "string_equals/multiclass-classification/accuracy",
        "string_equals/binary-classification/accuracy",
        "found/mean/accuracy",
    ]
    found = series_of(store, record, measures)
    kept = {
        f"{scorer.key}/{metric.key}/{name}": value
        for scorer in report.scorers
        for metric in scorer.metrics
        for name, value in metric.result.values.items()
    }
    for address, series in found.series.items():
        numbers = series.numbers[series.present].tolist()
        assert sum(numbers) / len(numbers) == pytest.approx(kept[address].value)
        assert len(numbers) == kept[address].n
    binary = found.series["string_equals/binary-classification/accuracy"]
    assert binary.failed(found.ids) == dict.fromkeys(("s3", "s4"), "it has no number in answer_gt and answer_pred")
    assert measures["string_equals/mean/Accuracy"].bounds == (0.0, 1.0)
    assert [measure.headline for measure in measures.values()] == [True, True, True, True, False]


def test_columns_of_recorded_answers_do_not_count_for_the_content(stored):
    store, record, _ = stored
    assert answer_columns(record) == {"said"}
    whole, less = (series_of(store, record, {}, ReadOptions(ignored=ignored)) for ignored in ((), ("said",)))
    assert whole.ids == less.ids
    assert len(set(whole.contents.tolist())) == 5
    assert len(set(less.contents.tolist())) == 5
    assert not (whole.contents == less.contents).any()


def test_a_run_without_numbers_is_refused(stored):
    store, record, _ = stored
    with pytest.raises(SpecError, match="has no metrics yet"):
        series_of(store, dataclasses.replace(record, summary=None, status="interrupted"), {})


def test_rows_of_one_sample_stay_together_and_labels_join_more(stored):
    _, record, _ = stored
    measure = SampleMean(address="s/m/v", scorer="s", read=lambda score: None, fields=("v",))
    ids = PackedTexts(["q1/0", "q1/1", "q2/0", "q2/1", "q3"])
    rows = np.arange(5)

    def groups(clusters, sources):
        series = Series(
            measure,
            numbers=np.zeros(5),
            reasons=Labels(np.full(5, -1), ()),
            lost=np.zeros(5, dtype=bool),
            clusters=clusters,
        )
        run = RunSeries(record=record, series={"s/m/v": series}, ids=ids, contents=rows, sources=sources)
        assert run.clusters(rows[:0], "s/m/v") is None
        codes = run.clusters(rows, "s/m/v")
        return None if codes is None else [codes.tolist().index(code) for code in codes.tolist()]

    sources = Labels(np.array([0, 0, 1, 1, 2]), ("q1", "q2", "q3"))
    assert groups(None, sources) == [0, 0, 2, 2, 4]
    assert groups(Labels(np.array([-1, 0, -1, 0, -1]), ("x",)), sources) == [0, 0, 0, 0, 4]
    assert groups(None, None) is None


def test_the_trials_of_a_sample_are_one_number(live):
    from assay.spec.task import Trials
    from assay.summary.trials import aggregate

    task = live(6).folder / "task.yaml"
    task.write_text(task.read_text() + "  trials: {num_trials: 2}\n")
    outcome = live(6, task=task.read_text()).assay("run", "task.yaml", "--model", "stub", "-q", "--json")
    assert outcome.code == 0, outcome.err
    store = open_store(str(task.parent / ".assay" / "assay.db"))
    record = find(store, outcome.json["run"])
    found = series_of(store, record, sample_means(store, record, registry()))
    store.close()
    (series,) = found.series.values()
    assert series.present.all()
    assert len(series.numbers) == 6
    assert aggregate([{"is_correct": 1.0}] * 2, Trials(num_trials=2)) == {"is_correct": 1.0}
    mean = outcome.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"]
    assert series.numbers.mean() == pytest.approx(mean)


MIXED = """
key: mixed
display_name: Mixed
definition:
  dataset: {source: {type: local, file_path: mixed.jsonl}}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      value: "{{ sample.said }}"
      metrics:
        - {type: mean, field: is_correct, name: Accuracy, group_by: "{{ sample.subject }}"}
        - {type: mean, field: is_correct, name: By passage, cluster_by: "{{ sample.passage }}"}
        - {type: binary-classification, field_gt: answer_gt, field_pred: answer_pred,
           positive_answer: a, negative_answer: b}
  actions:
    - {key: art, action: exclude_from_metrics, filter: "{{ sample.subject == 'art' }}"}
"""


def test_reading_by_columns_gives_what_reading_sample_by_sample_gives(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    path = project.write("task.yaml", MIXED)
    rows = [
        {"sample_id": f"s{i}", "answer": "ab"[i % 2], "subject": ("law", "art", "logic")[i % 3], "passage": i // 4}
        | ({} if i % 5 == 4 else {"said": ("a", "b", "neither")[i % 3]})
        for i in range(40)
    ]
    project.write("mixed.jsonl", rows)
    report, _ = run_file(path, Options())
    store = open_store(str(project.folder / ".assay" / "assay.db"))
    try:
        record = find(store, report.run)
        measures = sample_measures(store, record, registry())
        fast = series_of(store, record, measures, ReadOptions(ignored={"said"}))
        # digests of single columns are only to be had sample by sample
        slow = series_of(store, record, measures, ReadOptions(ignored={"said"}, columns=True))
        known = series_of(store, record, measures, ReadOptions(only_outcomes=40))
    finally:
        store.close()
    assert list(fast.series) == list(slow.series) == list(known.series)
    for address, series in fast.series.items():
        for other in (slow.series[address], known.series[address]):
            for column in dataclasses.fields(Series):
                np.testing.assert_equal(plain(getattr(series, column.name)), plain(getattr(other, column.name)))
    assert fast.ids == slow.ids
    assert (fast.contents == slow.contents).all()
    assert (fast.names, fast.sources) == (slow.names, slow.sources)
    accuracy = fast.series["string_equals/mean/Accuracy"]
    assert accuracy.present.any()
    assert accuracy.lost.any()
    assert accuracy.present.sum() + len(accuracy.failed(fast.ids)) == 40


def plain(column):
    """Labels as texts: the codes depend on the order in which they were met."""
    if isinstance(column, Labels):
        return [None if code < 0 else column.names[code] for code in column.codes.tolist()]
    return column
