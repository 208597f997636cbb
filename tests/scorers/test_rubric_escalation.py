"""Escalation in a task file: planned, run, shown, resumed, and part of the run's identity."""

from __future__ import annotations

import math

import pytest

TASK = """
key: graded
display_name: Graded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers:
    - type: rubric
      rubric:
        - {name: capital, requirement: Names the capital.}
        - {name: polite, requirement: Is polite.}
      judges: [{model_key: scripted/first.jsonl, id: first}]
      escalation: {judges: [{model_key: scripted/strong.jsonl, id: strong}], threshold: 0.8}
"""


def _line(match, word, probability=None):
    line = {"match": match, "reply": {"explanation": f"because {word}", "criterion_status": word}}
    if probability is not None:
        line["logprobs"] = [{"token": word, "logprob": math.log(probability)}]
    return line


@pytest.fixture
def cascade(project):
    """A first judge that is unsure about politeness, and a stronger one that disagrees with it."""
    project.write("first.jsonl", [_line("Names the capital.", "MET", 0.9), _line("Is polite.", "MET", 0.7)])
    project.write("strong.jsonl", [_line("Names the capital.", "UNMET"), _line("Is polite.", "UNMET")])
    project.write("data.jsonl", [{"sample_id": name, "reply": f"{name}."} for name in ("Paris", "Rome")])
    project.write("task.yaml", TASK)
    return project


def _calls(plan):
    return {model["model"]: model["calls"] for model in plan.json["models"]}


def test_a_task_escalates_the_doubtful_criterion(cascade):
    plan = cascade.assay("plan", "task.yaml", "--json")
    assert _calls(plan) == {"scripted/first.jsonl": 4, "scripted/strong.jsonl": 4}
    assert "upper bound" in plan.json["notes"][0]
    assert "upper bound" in " ".join(cascade.assay("plan", "task.yaml").out.split())
    run = cascade.assay("run", "task.yaml", "--json")
    assert run.code == 0, run.err
    means = {n: v["value"] for metric in run.json["scorers"][0]["metrics"] for n, v in metric["values"].items()}
    assert means == {"score": 0.5, "capital": 1.0, "polite": 0.0}
    score = cascade.assay("samples", "--json").lines[0]["scores"]["rubric"]
    assert score["metadata"]["escalated"] == ["polite"]
    assert score["metadata"]["confidence"] == {"capital": pytest.approx(0.9), "polite": pytest.approx(0.7)}
    votes = score["metadata"]["votes"]["polite"]
    assert [(vote["judge_id"], vote["verdict"], vote.get("superseded", False)) for vote in votes] == [
        ("first", "MET", True),
        ("strong", "UNMET", False),
    ]
    assert "2 of 4 verdicts (50.0%) were escalated" in " ".join(cascade.assay("show", "latest").out.split())
    full = cascade.assay("samples", "--id", "Paris").out
    assert "(MET)" in full
    assert "escalated" in full


def test_a_second_run_costs_nothing_and_a_new_threshold_is_a_new_run(cascade):
    cascade.assay("run", "task.yaml")
    assert _calls(cascade.assay("plan", "task.yaml", "--json")) == {}
    cascade.write("task.yaml", TASK.replace("threshold: 0.8", "threshold: 0.95"))
    assert _calls(cascade.assay("plan", "task.yaml", "--json")) == {
        "scripted/first.jsonl": 0,
        "scripted/strong.jsonl": 2,
    }
    cascade.assay("run", "task.yaml")
    metadata = cascade.assay("samples", "--json").lines[0]["scores"]["rubric"]["metadata"]
    assert metadata["escalated"] == ["capital", "polite"]


def test_repeats_are_the_confidence_of_a_judge_without_logprobs(cascade):
    words = ["MET", "MET", "UNMET"]
    cascade.write("data.jsonl", [{"sample_id": "Paris", "reply": "Paris."}])
    lines = [{"reply": _line("", word)["reply"]} for word in words]
    cascade.write("first.jsonl", [_line("Names the capital.", "MET"), *lines])
    cascade.write("task.yaml", TASK.replace("      escalation", "      repeats: 3\n      escalation"))
    assert cascade.assay("run", "task.yaml").code == 0
    metadata = cascade.assay("samples", "--json").lines[0]["scores"]["rubric"]["metadata"]
    assert metadata["confidence"] == {"capital": 1.0, "polite": pytest.approx(2 / 3)}
    assert metadata["escalated"] == ["polite"]
    assert len(metadata["votes"]["polite"]) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("threshold: 0.8", "threshold: 1.5", "expected a number <= 1"),
        ("threshold: 0.8", "threshold: 0.8, per_criterion: {polit: 0.9}", 'did you mean "polite"'),
        ("threshold: 0.8", "threshold: 0.8, per_criterion: {polite: -1}", "expected a number >= 0"),
        ("id: strong", "id: first", 'two judges with the id "first"'),
        ("scripted/strong.jsonl", "opnai/strong", "openai"),
    ],
)
def test_what_is_wrong_is_told_before_anybody_is_asked(cascade, old, new, message):
    cascade.write("task.yaml", TASK.replace(old, new))
    checked = cascade.assay("check", "task.yaml")
    assert checked.code == 2
    assert message in " ".join((checked.out + checked.err).split())
