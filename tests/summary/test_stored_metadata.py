"""What scorers count over a whole run."""

from __future__ import annotations

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
      choices: [A, B]
EXTRACTION
  actions: ACTIONS
"""


@pytest.fixture
def mcqa(project):
    def run(replies, actions="[]", extraction=""):
        project.write("data.jsonl", [{"output": reply, "answer": "B", "n": n} for n, reply in enumerate(replies)])
        project.write("task.yaml", TASK.replace("ACTIONS", actions).replace("EXTRACTION", extraction))
        outcome = project.assay("run", "task.yaml")
        assert outcome.code == 0, outcome.err
        (scorer,) = project.assay("show", "--json").json["scorers"]
        return outcome.out, scorer

    return run


def test_invalid_replies_are_counted_beside_the_accuracy(mcqa):
    out, scorer = mcqa(["B"] * 6 + ["A"] * 2 + ["The answer is B."] * 2)
    assert scorer["metrics"][0]["values"]["accuracy"]["value"] == 0.6
    assert scorer["detail"]["invalid"] == {"n": 2, "of": 10, "share": 0.2, "accuracy_among_valid": 0.75}
    assert "10 scored, 2 INVALID" in out
    assert "INVALID replies" in out
    assert "2 of 10 (20.0%)" in out
    assert "among valid replies" in out
    assert "note: 20.0% of the replies are INVALID" in out
    assert "`answer_extraction: letter`" in " ".join(out.split())


def test_few_invalid_replies_need_no_note_and_none_need_no_row(mcqa):
    out, scorer = mcqa(["B"] * 19 + ["?"])
    assert scorer["detail"] == {"invalid": {"n": 1, "of": 20, "share": 0.05, "accuracy_among_valid": 1.0}}
    assert "1 of 20 (5.0%)" in out
    assert "note:" not in out
    out, scorer = mcqa(["B", "A"])
    assert scorer["detail"]["invalid"]["n"] == 0
    assert "INVALID" not in out


def test_only_invalid_replies_leave_no_accuracy_among_valid_ones(mcqa):
    out, scorer = mcqa(["?"])
    assert scorer["detail"]["invalid"]["accuracy_among_valid"] is None
    assert "undefined" in out


def test_samples_that_an_action_excludes_are_not_counted(mcqa):
    exclude = (
        """[{key: few, action: exclude_from_metrics, filter: {op: greater_than, expression: sample.n, value: 1}}]"""
    )
    _, scorer = mcqa(["B", "?", "?", "?"], actions=exclude)
    assert (scorer["detail"]["invalid"]["n"], scorer["detail"]["invalid"]["of"]) == (1, 2)


def test_the_note_names_the_extraction_that_found_nothing(mcqa):
    out, _ = mcqa(["B", "hm"], extraction="      answer_extraction: letter")
    assert "`answer_extraction: letter` finds no choice in them" in " ".join(out.split())


NORMALIZE = """
key: t
display_name: T
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.answer }}", normalize: STEPS}
"""


def test_a_run_says_how_many_samples_differ_only_in_form(project):
    outputs = ["Zürich", "Zu\u0308rich", "Zürich\n", 'say "equal_after": x', "Bern"]
    project.write("data.jsonl", [{"output": output, "answer": "Zürich"} for output in outputs])
    project.write("task.yaml", NORMALIZE.replace("STEPS", "[]"))
    ran = project.assay("run", "task.yaml")
    (scorer,) = project.assay("show", "--json").json["scorers"]
    assert scorer["metrics"][0]["values"]["accuracy"]["value"] == 0.2
    assert scorer["detail"]["equal_after"] == 2
    assert "note: 2 answers differ from the ground truth only in Unicode form" in " ".join(ran.out.split())
    project.write("task.yaml", NORMALIZE.replace("STEPS", "[unicode, strip]"))
    ran = project.assay("run", "task.yaml")
    (scorer,) = project.assay("show", "--json").json["scorers"]
    assert scorer["metrics"][0]["values"]["accuracy"]["value"] == 0.6
    assert "note:" not in ran.out
