"""Values of samples stay what was written."""

from __future__ import annotations

import json

import pytest

from assay.datasets.folder import KIND as FOLDER
from assay.spec.load import read_document

TASK = """
key: t
display_name: T
definition:
  dataset:
    source:
      type: inline_samples
      samples:
        - {{answer: {written}, said: "{text}"}}
  scorers:
    - {{type: string_equals, ground_truth: "{{{{ sample.answer }}}}", value: "{{{{ sample.said }}}}"}}
"""
KEPT = [
    "no",
    "Yes",
    "on",
    "12:30",
    "010",
    "0x1F",
    "1_000",
    "2024-05-06",
    "2024-05-06 10:00:00",
    "1:30.5",
    ".inf",
    "9" * 30,
]


@pytest.fixture
def project(new_project):
    return new_project()


def _answer(project, written):
    path = project.write("task.yaml", TASK.format(written=written, text=written))
    document = read_document(path, strict=False)
    return document, document.data["definition"]["dataset"]["source"]["samples"][0]["answer"]


@pytest.mark.parametrize("written", KEPT)
def test_a_value_that_yaml_would_change_stays_text_in_a_sample(project, written):
    document, answer = _answer(project, written)
    assert answer == written
    (note,) = document.notes
    assert f'"{written}" is kept as text' in note.message
    assert (note.place.line, note.place.column) == (9, 20)


@pytest.mark.parametrize(
    ("written", "value"),
    [("3", 3), ("-3", -3), ("0", 0), ("0.5", 0.5), ("null", None), ("~", None), ("'no'", "no"), ("Paris", "Paris")],
)
def test_plain_values_are_what_they_are_and_need_no_note(project, written, value):
    document, answer = _answer(project, written)
    assert (answer, type(answer) is type(value) or isinstance(answer, str)) == (value, True)
    assert document.notes == ()


@pytest.mark.parametrize(("written", "value"), [("true", True), ("1.50", 1.5), ("+5", 5), ("!!bool no", False)])
def test_a_typed_value_whose_text_is_another_is_named(project, written, value):
    document, answer = _answer(project, written)
    assert answer is value or answer == value
    assert [f'"{value}"; quote it' in note.message for note in document.notes] == [True] * (written != "!!bool no")


@pytest.mark.parametrize("written", ["no", "12:30", "010", "2024-05-06"])
def test_such_an_answer_is_scored_right_and_named_by_check(project, written):
    _answer(project, written)
    checked = project.assay("check", "task.yaml")
    assert checked.code == 0
    assert f'task.yaml:9:20: "{written}" is kept as text' in checked.err
    ran = project.assay("run", "task.yaml")
    assert (ran.code, "kept as text" in ran.err) == (0, False)
    assert json.loads(project.assay("samples", "--json").out)["scores"]["string_equals"]["values"] == {
        "is_correct": 1.0
    }


def test_each_value_of_a_column_is_named_once(project):
    path = project.write(
        "data.yaml",
        "key: d\ndisplay_name: D\nsource:\n  type: inline_samples\n  samples:\n"
        "    - {a: no, b: no}\n    - {a: no}\n    - {a: on, c: [no]}\n",
    )
    assert len(read_document(path, strict=False).notes) == 4
    assert read_document(path, strict=True).notes == ()


def test_settings_are_read_as_before(project):
    path = project.write("x.yaml", "type: inline_samples\nother: no\nsamples: [{a: no}]\nafter: 010\n")
    assert read_document(path, strict=True).data == {
        "type": "inline_samples",
        "other": False,
        "samples": [{"a": "no"}],
        "after": 8,
    }


def test_front_matter_is_data_too(tmp_path):
    (tmp_path / "a.md").write_text("---\nanswer: no\nat: 12:30\nday: 2024-05-06\nn: 3\nok: true\n---\nx")
    settings = FOLDER.settings(type="folder", directory_path=".")
    (batch,) = FOLDER.read(settings, tmp_path)
    columns = ("answer", "at", "day", "n", "ok")
    assert [batch.samples[0][name] for name in columns] == ["no", "12:30", "2024-05-06", 3, True]
