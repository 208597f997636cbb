"""Runs that split their answers: compared sample by sample, whatever the number of their rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.sources import gaps

sides = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 6), st.integers(0, 5), st.integers(1, 6)), min_size=2, max_size=20
)


@given(sides)
def test_the_mean_of_the_gaps_is_the_difference_of_the_means_over_rows(rows):
    a, wa, b, wb = np.array(rows, dtype=float).T
    found = gaps((a, b), (wa, wb))
    assert found.mean() == pytest.approx(b.sum() / wb.sum() - a.sum() / wa.sum(), abs=1e-12)
    assert gaps((b, a), (wb, wa)).tolist() == pytest.approx((-found).tolist(), abs=1e-12)


TASK = """
key: claims
display_name: Claims
definition:
  dataset: {source: {type: local, file_path: a.jsonl}}
  solver:
    type: pass_through_solver
    trace_column: output
    postprocessor:
      type: python
      postprocess_snippet: |
        from latticeflow.core.dtypes import SolverOutput

        def postprocess(sample, solver_output):
            if solver_output.output == "broken":
                raise ValueError("cannot be split")
            claims = solver_output.output.split(" ")
            return [({**sample, "claim": claim}, SolverOutput(claim)) for claim in claims]
  scorers: [{type: string_equals, ground_truth: "yes"}]
"""


@pytest.fixture
def claims(project):
    project.write("task.yaml", TASK)

    def run(name, answers):
        rows = [{"sample_id": f"a/{i}", "question": f"Q{i}", "output": answer} for i, answer in enumerate(answers)]
        project.write(f"{name}.jsonl", rows)
        outcome = project.assay(
            "run", "task.yaml", "--dataset", f"{name}.jsonl", "--allow-code", "-q", "--json", "--max-failures", "1"
        )
        assert outcome.code == 0, outcome.err
        return outcome.json

    return project, run


def test_runs_whose_answers_split_differently_are_compared_by_sample(claims):
    project, run = claims
    before = run("a", ["yes no no", "no no", "yes", "no", "broken", "yes no"] * 5)
    after = run("b", ["yes yes", "no", "yes yes yes", "yes no", "no", "yes"] * 5)
    outcome = project.assay("compare", before["run"], after["run"], "--json")
    assert outcome.code == 0, outcome.err
    (found,) = outcome.json["comparisons"]
    assert outcome.json["matching"][0]["n_common"] == 30
    assert found["n"] == 25
    assert found["failed"] == {"A": 5, "B": 0}
    values = [document["scorers"][0]["metrics"][0]["values"]["accuracy"] for document in (before, after)]
    assert found["before"]["value"] == pytest.approx(values[0]["value"]) == 3 / 9
    assert found["after"]["value"] == pytest.approx(7 / 9)
    assert found["difference"]["value"] == pytest.approx(7 / 9 - 3 / 9)
    assert (found["wins"], found["ties"], found["losses"]) == (15, 10, 0)
    assert found["verdict"] == "better"
    assert found["flips"][0] == {"sample_id": "a/0", "before": pytest.approx(1 / 3), "after": 1.0}
    back = project.assay("compare", after["run"], before["run"], "--json")
    assert back.code == 1
    assert back.json["comparisons"][0]["difference"]["value"] == pytest.approx(-found["difference"]["value"])
    itself = project.assay("compare", before["run"], before["run"], "--json").json["comparisons"][0]
    assert (itself["difference"]["value"], itself["p"], itself["n_changed"]) == (0.0, 1.0, 0)


def test_split_answers_to_other_questions_are_refused(claims):
    project, run = claims
    before = run("a", ["yes no", "no"])
    rows = [{"sample_id": f"a/{i}", "question": "Another?", "output": "yes no"} for i in range(2)]
    project.write("b.jsonl", rows)
    after = project.assay("run", "task.yaml", "--dataset", "b.jsonl", "--allow-code", "-q", "--json").json
    outcome = project.assay("compare", before["run"], after["run"])
    assert outcome.code == 2
    assert "no sample in common: under the same ids the samples differ in content" in outcome.err
