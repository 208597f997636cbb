"""The votes that a run keeps, read again."""

from __future__ import annotations

import numpy as np
import pytest

from assay.analysis.run_votes import votes_of_run
from assay.errors import SpecError
from assay.store.runs import find
from assay.store.store import open_store

TASK = """
key: letters
display_name: Letters
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - type: rubric
      value: "{{ sample.text }}"
      rubric:
        - {name: polite, requirement: Is polite.}
        - name: style
          requirement: How is the style?
          options: [{label: Poor, value: 0}, {label: Fair, value: 0.5}, {label: Fine, value: 1}]
      judges: [{model_key: scripted/one.jsonl, id: one}, {model_key: scripted/two.jsonl, id: two}]
      ground_truth: "{{ sample.truth }}"
"""
OTHER = """
    - type: rubric
      key: mute
      value: "{{ sample.text }}"
      rubric: [{name: style, requirement: Says it again.}]
      judges: [{model_key: scripted/mute.jsonl}]
"""


@pytest.fixture
def read(project):
    """The votes of a run of the task, as they are read again."""
    project.write("data.jsonl", [{"text": text, "truth": ["MET", "Fine"]} for text in ("Hello", "Well")])
    yes = {"match": "Is polite.", "reply": "MET"}
    project.write("one.jsonl", [yes, {"reply": "Fine"}])
    project.write("two.jsonl", [{"match": "Is polite.", "reply": "CANNOT_ASSESS"}, {"reply": "Poor"}])
    project.write("mute.jsonl", [{"reply": "perhaps"}])

    def make(task=TASK):
        project.write("task.yaml", task)
        outcome = project.assay("run", "task.yaml", "-q", "--max-failures", "1")
        assert outcome.code == 0, outcome.err
        store = open_store(str(project.folder / ".assay" / "assay.db"))
        try:
            return votes_of_run(store, find(store, "latest"))
        finally:
            store.close()

    return make, project


def test_votes_verdicts_truths_and_scales_come_back(read):
    found = read[0]()
    polite, style = found.ballots
    assert (polite.judges["one"], polite.judges["two"]) == ({"0/0": "MET", "1/0": "MET"}, {"0/0": None, "1/0": None})
    assert style.panel == {"0/0": "Fair", "1/0": "Fair"}
    assert style.truth == {"0/0": "Fine", "1/0": "Fine"}
    assert found.scales["style"].labels == ("Poor", "Fair", "Fine")
    assert np.allclose(found.totals.table, [[1.0, 0.0], [1.0, 0.0]])
    assert found.scores["panel"]["bias"].value == pytest.approx(0.75 - 1.0)


def test_the_number_before_snapping_is_the_mean_of_the_panel(read):
    _, project = read
    project.write("two.jsonl", [{"match": "Is polite.", "reply": "MET"}, {"reply": "Fair"}])
    found = read[0]()
    assert found.ballots[1].numbers == {"0/0": 0.75, "1/0": 0.75}
    assert found.scores["panel"]["rmse_continuous"].value == pytest.approx(1 - (1 + 0.75) / 2)


def test_a_judge_that_could_not_be_read_has_no_vote_and_an_option_to_abstain_is_no_label(read):
    _, project = read
    project.write("two.jsonl", [{"match": "How is the style?", "reply": "Cannot assess"}, {"reply": "perhaps"}])
    polite, style = read[0]().ballots
    assert polite.judges["two"] == {}
    assert style.judges["two"] == {"0/0": None, "1/0": None}
    assert style.abstaining == {"Cannot assess"}


def test_a_rubric_that_judged_nothing_lends_its_scale_to_no_other(read):
    found = read[0](TASK + OTHER)
    assert [ballot.name for ballot in found.ballots] == ["polite", "style"]
    assert found.scales["style"].labels == ("Poor", "Fair", "Fine")


def test_a_run_in_which_nobody_voted_has_nothing_to_read(read):
    with pytest.raises(SpecError, match="has no votes"):
        read[0](TASK[: TASK.index("    - type: rubric")] + OTHER.lstrip("\n"))
