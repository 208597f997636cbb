"""A finished run in the hands of a Python program."""

from __future__ import annotations

import sys

import pytest

import assay
from assay.api.result import MetricValues
from assay.errors import SpecError
from assay.types import MetricValue

TASK = """
key: t
display_name: t
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.a }}", metrics: [{type: mean, field: is_correct, name: Accuracy}]}
"""


def value(number):
    return MetricValue(value=number, n=1)


def test_a_number_is_found_by_any_end_of_its_address_that_only_it_has():
    found = MetricValues({"a/mean/x": value(1.0), "b/mean/x": value(2.0), "b/mean/y": value(3.0), "x": value(4.0)})
    assert found["y"].value == found["mean/y"].value == found["b/mean/y"].value == 3.0
    assert found["a/mean/x"].value == 1.0
    assert found["x"].value == 4.0, "a whole address wins"
    with pytest.raises(SpecError, match='"mean/x" could be any of: a/mean/x, b/mean/x'):
        found["mean/x"]
    with pytest.raises(KeyError):
        found["z"]
    with pytest.raises(KeyError):
        found["ean/y"]
    assert (len(found), next(iter(found)), "y" in found, "z" in found) == (4, "a/mean/x", True, False)


@pytest.fixture
def result(project):
    project.write("data.jsonl", [{"q": "one?", "a": "yes"}, {"q": "two?", "a": "no"}])
    return assay.run(project.write("task.yaml", TASK), model=lambda messages: "yes")


def test_a_python_function_answers(result):
    assert result.metrics["Accuracy"].value == 0.5
    assert [row["output"] for row in result.samples()] == ["yes", "yes"]
    assert result.to_dicts() == list(result.samples())
    assert result.to_json()["run"] == result.run


def test_printed_it_is_one_short_line(result):
    line = f"<assay run {result.run} of t: completed, 2 samples, string_equals/mean/Accuracy 0.500>"
    assert str(result) == repr(result) == line


def test_the_samples_as_a_table(result):
    pytest.importorskip("polars")
    table = result.to_polars()
    assert table["string_equals.is_correct"].to_list() == [1.0, 0.0]


def test_without_polars_it_says_so(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="polars"):
        result.to_polars()


def test_other_options_go_by_name(project):
    project.write("data.jsonl", [{"q": "one?", "a": "yes"}, {"q": "two?", "a": "no"}])
    path = project.write("task.yaml", TASK)
    other = project.folder / "other.db"
    found = assay.run(path, model=lambda messages: "no", limit=1, seed=3, store=str(other), max_concurrency=1)
    assert (found.report.n_samples, other.is_file()) == (1, True)
    with pytest.raises(SpecError, match="--model"):
        assay.run(path)
