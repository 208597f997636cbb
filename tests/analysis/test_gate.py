"""Failed samples in the verdict of a gate: trials, and policies of a run file."""

from __future__ import annotations

import pytest

import assay
from assay.analysis.gate import GateOptions, gate_run
from assay.results.rules import FailureRule, parse_rule
from assay.store.runs import find
from assay.store.store import open_for_reading

RUN = """
tasks:
  - key: capitals
    display_name: Capitals
    definition:
      dataset: {source: {type: local, file_path: rows.jsonl}}
      TRIALS
      solver:
        type: single_turn_solver
        input_builder:
          type: chat_completion
          input_messages: [{role: user, content: "{{ sample.q }}"}]
      scorers:
        - {type: numeric_equals, ground_truth: "1", metrics: [{type: mean, field: is_correct, name: accuracy}]}
evaluation:
  key: everything
  display_name: Everything
  task_specifications: [{task_key: capitals, key: short}]
policies:
  - key: quality
    rules:
      - key: high
        definition: {type: threshold, metric: accuracy, operator: ">=", threshold: 0.7}
        scope: all_latest
"""


@pytest.fixture
def ran(project, monkeypatch):
    """An evaluation of ten questions; the first calls of two of them fail."""
    monkeypatch.chdir(project.folder)
    project.write("rows.jsonl", [{"q": f"Question {i}"} for i in range(10)])

    def run(trials, failing, **options):
        project.write("run.yaml", RUN.replace("TRIALS", f"trials: {{num_trials: {trials}}}" if trials > 1 else ""))
        asked = {}

        def answer(messages):
            question = str(messages)
            asked[question] = asked.get(question, 0) + 1
            hit = "Question 0" in question or "Question 1" in question
            if hit and asked[question] <= failing:
                raise ValueError("no answer")
            return "1"

        return assay.run_evaluation("run.yaml", model=answer, store="s.db", fresh=True, **options)

    return run


@pytest.mark.parametrize(
    ("options", "passed"),
    [({}, False), ({"max_failures": 0.2}, True), ({"failures": "worst"}, True), ({"failures": "ignore"}, True)],
)
def test_policies_treat_failed_samples_as_told(ran, options, passed):
    report = ran(1, 1, **options)
    (verdict,) = report.policies
    assert verdict.passed is passed, verdict.reason
    assert (verdict.counts.n, verdict.counts.failed) == (8, 2)


def test_a_sample_with_a_failed_trial_counts_as_failed_in_the_worst_case(ran, project):
    report = ran(3, 1)
    run = report.specifications[0].report
    assert (run.scorers[0].n_failed, run.scorers[0].n_scored) == (2, 10)
    store = open_for_reading(str(project.folder / "s.db"))
    for rule, passed, reason in [
        ("accuracy >= 0.8", True, "0.800 is >= 0.8 with 2 failed samples at 0"),
        ("accuracy > 0.8", False, "0.800 is not > 0.8 with 2 failed samples at 0"),
    ]:
        options = GateOptions(rules=(parse_rule(rule),), failures=FailureRule(mode="worst"))
        (check,) = gate_run(store, find(store, "short"), options).checks
        assert (check.passed, check.reason) == (passed, reason)
    # 2 of 30 answers failed
    (check,) = gate_run(store, find(store, "short"), GateOptions(rules=(parse_rule("accuracy > 0"),))).checks
    assert not check.passed
    assert "2 of 30 samples failed" in check.reason
    store.close()
