"""Judges through the command line, with recorded replies in place of a model."""

from __future__ import annotations

import pytest

CLASSIFIER = """
key: refusals
display_name: Refusals
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: model_as_a_judge_classifier
      model_key: scripted/judge.jsonl
      system_prompt: You decide whether a response refuses the request.
      user_prompt: "Response: {{ model_output.choices[0].message.content }}"
      correct_labels: ["yes"]
      incorrect_labels: ["no"]
      metrics:
        - {type: mean, field: is_correct, name: Refusals}
        - type: binary-classification
          field_gt: ground_truth_label
          field_pred: predicted_label
          positive_answer: "yes"
          negative_answer: "no"
"""

SCALE = """
key: helpful
display_name: Helpful
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: model_as_a_judge_scorer
      model_key: scripted/judge.jsonl
      user_prompt: "How good is {{ model_output }}?"
      score_min: 0
      score_max: 100
"""


def _values(result):
    return {
        name: entry["value"] for metric in result["scorers"][0]["metrics"] for name, entry in metric["values"].items()
    }


@pytest.fixture
def judge(project):
    """Write what the judge says to each message that holds a text."""

    def write(script):
        project.write("judge.jsonl", [{"match": match, "reply": reply} for match, reply in script.items()])

    return write


def test_a_judge_sorts_replies_and_is_held_against_people(project, judge):
    judge(
        {
            "Response: one": '```json\n{"reasoning": "r", "prediction": "yes", "confidence": 0.9}\n```',
            "Response: two": "Yes",
            "Response: three": 'I see. {"prediction": "No"} That is all.',
            "Response: four": "no",
            "Response: five": "perhaps",
            '"perhaps" is none of the labels': "perhaps",
        }
    )
    truths = {"one": "yes", "two": "no", "three": "no", "four": "yes", "five": "yes"}
    project.write("data.jsonl", [{"reply": reply, "ground_truth_label": truth} for reply, truth in truths.items()])
    project.write("task.yaml", CLASSIFIER)
    outcome = project.assay("run", "task.yaml", "--json", "--max-failures", "0.5")
    assert outcome.code == 0, outcome.err
    result = outcome.json
    assert (result["scorers"][0]["n_scored"], result["scorers"][0]["n_failed"]) == (4, 1)
    assert result["failures"] == {"parse": 1}
    values = _values(result)
    assert values["Refusals"] == 0.5
    assert {name: values[name] for name in ("accuracy", "precision", "recall")} == {
        "accuracy": 0.5,
        "precision": 0.5,
        "recall": 0.5,
    }
    samples = {sample["sample"]["reply"]: sample for sample in project.assay("samples", "--json").lines}
    (scores,) = samples["two"]["scores"].values()
    assert scores["values"] == {"is_correct": 1.0, "predicted_label": "yes", "ground_truth_label": "no"}
    assert scores["metadata"]["raw_label"] == "Yes"
    assert samples["five"]["scores"] == {}
    (failure,) = samples["five"]["failures"]
    assert (failure["kind"], failure["stage"]) == ("parse", "score")
    assert '"perhaps" is none of the labels "yes", "no"' in failure["detail"]


def test_what_was_judged_is_not_judged_again(project, judge):
    judge({"Response: one": "yes", "Response: two": "no"})
    project.write("data.jsonl", [{"reply": "one"}, {"reply": "two"}])
    task = CLASSIFIER[: CLASSIFIER.index("        - type: binary")]
    project.write("task.yaml", task)
    first = project.assay("run", "task.yaml", "--json").json
    assert first["n_cached"] == 0
    again = project.assay("run", "task.yaml", "--json").json
    assert _values(again) == _values(first) == {"Refusals": 0.5}
    assert again["n_cached"] == 2


def test_a_number_is_a_place_on_the_scale_and_never_clipped(project, judge):
    judge(
        {
            "How good is one": {"reasoning": "r", "score": 80, "confidence": 1},
            "How good is two": "60",
            "How good is three": "101",
            "101 is not between 0 and 100": "101",
            "How good is four": "150",
            "150 is not between 0 and 100": '{"score": 100}',
        }
    )
    project.write("data.jsonl", [{"reply": reply} for reply in ("one", "two", "three", "four")])
    project.write("task.yaml", SCALE)
    result = project.assay("run", "task.yaml", "--json", "--max-failures", "0.5").json
    assert _values(result) == {"score_mean": pytest.approx(0.8)}
    assert result["failures"] == {"parse": 1}
    samples = {sample["sample"]["reply"]: sample for sample in project.assay("samples", "--json").lines}
    assert samples["one"]["scores"]["model_as_a_judge_scorer"]["values"] == {"score": 0.8}
    assert samples["one"]["scores"]["model_as_a_judge_scorer"]["metadata"]["raw_score"] == 80
    assert "101 is not between 0 and 100" in samples["three"]["failures"][0]["detail"]
    assert samples["four"]["scores"]["model_as_a_judge_scorer"]["values"] == {"score": 1.0}


def test_labels_are_counted(project, judge):
    judge({"one": "Sports", "two": '{"prediction": "sports"}', "three": "other"})
    project.write("data.jsonl", [{"text": text} for text in ("one", "two", "three")])
    project.write(
        "task.yaml",
        """
key: topics
display_name: Topics
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: labeler_via_model
      model_key: scripted/judge.jsonl
      user_prompt: "{{ sample.text }}"
      valid_labels: [sports, other]
""",
    )
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    assert _values(outcome.json) == {"label_sports": pytest.approx(2 / 3), "label_other": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('incorrect_labels: ["no"]', 'incorrect_labels: ["yes"]'), 'the label "yes" appears twice'),
        (('correct_labels: ["yes"]', "correct_labels: [yes]"), "quote it"),
        (("model_output.choices", "sample.missing"), 'the dataset has no column "missing"'),
        (("field_pred: predicted_label", "field_pred: predicted_lable"), 'did you mean "predicted_label"'),
        (("user_prompt:", "user_promt:"), 'did you mean "user_prompt"'),
        (("scripted/judge.jsonl", "scripted/nobody.jsonl"), "nobody.jsonl"),
    ],
)
def test_what_is_wrong_with_a_judge_is_found_before_it_is_asked(project, judge, change, problem):
    judge({"one": "yes"})
    project.write("data.jsonl", [{"reply": "one", "ground_truth_label": "yes"}])
    project.write("task.yaml", CLASSIFIER.replace(*change))
    outcome = project.assay("run", "task.yaml")
    assert outcome.code == 2
    assert problem in outcome.err
