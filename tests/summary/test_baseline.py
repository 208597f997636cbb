"""What an accuracy must beat."""

from __future__ import annotations

import json

import pytest

TASK = """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals_mcqa
      ground_truth_choice: "{{ sample.answer }}"
      choices: "{{ sample.choices }}"
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - {type: multiclass-classification, field_gt: ground_truth_choice, field_pred: predicted_choice}
        - {type: frequency, field: predicted_choice}
    - type: string_equals
      key: verdict
      value: "{{ sample.said }}"
      ground_truth: "{{ sample.truth }}"
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - type: binary-classification
          field_gt: answer_gt
          field_pred: answer_pred
          positive_answer: "yes"
          negative_answer: "no"
"""
ROWS = [
    {"output": "A", "answer": "A", "choices": ["A", "B"], "said": "yes", "truth": "no"},
    {"output": "B", "answer": "A", "choices": ["A", "B"], "said": "no", "truth": "no"},
    {"output": "C", "answer": "C", "choices": ["A", "B", "C", "D"], "said": "yes", "truth": "yes"},
    {"output": "A", "answer": "B", "choices": ["A", "B", "C", "D"], "said": "maybe", "truth": "no"},
]


def _metrics(project, key):
    document = project.assay("show", "--json").json
    scorer = next(scorer for scorer in document["scorers"] if scorer["key"] == key)
    return {metric["key"]: metric["detail"].get("baseline") for metric in scorer["metrics"]}


@pytest.fixture
def scored(project):
    project.write("data.jsonl", ROWS)
    project.write("task.yaml", TASK)
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 0, outcome.err
    return project, outcome.out


def test_chance_is_the_mean_of_one_over_the_number_of_choices_of_each_sample(scored):
    project, _ = scored
    found = _metrics(project, "string_equals_mcqa")
    assert found["mean"] == {"chance": (0.5 + 0.5 + 0.25 + 0.25) / 4, "majority": 0.5, "majority_class": "A"}
    # the classes that occur are three
    assert found["multiclass-classification"]["chance"] == pytest.approx(1 / 3)
    assert found["multiclass-classification"]["majority"] == 0.5
    assert found["frequency"] is None


def test_a_classification_has_its_classes_and_a_plain_comparison_has_no_chance(scored):
    project, _ = scored
    found = _metrics(project, "verdict")
    # the row that says neither is left out of the classification
    assert found["binary-classification"] == {
        "chance": 0.5,
        "majority": pytest.approx(2 / 3),
        "majority_class": "no",
    }
    assert found["mean"] is None


def test_the_table_shows_them_below_the_accuracy(scored):
    _, shown = scored
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    place = next(number for number, line in enumerate(lines) if line.startswith("accuracy 0.500"))
    assert lines[place + 1 : place + 3] == ["by chance 0.375", "always A 0.500"]


def test_without_samples_there_is_nothing_to_beat(project):
    project.write("data.jsonl", [{**ROWS[0], "answer": "Z"}])
    project.write("task.yaml", TASK)
    project.assay("run", "task.yaml", "--max-failures", "1")
    assert _metrics(project, "string_equals_mcqa") == dict.fromkeys(
        ("mean", "multiclass-classification", "frequency"), None
    )


def test_a_judge_with_a_ground_truth_is_held_against_the_baselines(project):
    task = """
key: judged
display_name: Judged
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: model_as_a_judge_classifier
      model_key: scripted/judge.jsonl
      user_prompt: "{{ sample.text }}"
      correct_labels: [good]
      incorrect_labels: [bad]
      ground_truth: "{{ sample.truth }}"
      metrics: [{type: multiclass-classification, field_gt: ground_truth_label, field_pred: predicted_label}]
"""
    project.write("task.yaml", task)
    project.write("data.jsonl", [{"text": f"t{n}", "truth": "good" if n else "bad"} for n in range(5)])
    project.write("judge.jsonl", [{"reply": json.dumps({"prediction": "good"})}])
    assert project.assay("run", "task.yaml", "-q").code == 0
    (found,) = _metrics(project, "model_as_a_judge_classifier").values()
    assert found == {"chance": 0.5, "majority": 0.8, "majority_class": "good"}
