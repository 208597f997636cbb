"""How much a mean moves by asking again alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

import assay

TASK = """
key: t
display_name: T
definition:
  dataset: {source: {type: inline_samples, samples: [{q: a}, {q: b}, {q: c}, {q: d}, {q: e}, {q: f}]}}
  trials: TRIALS
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
  scorers:
    - {type: string_equals_mcqa, ground_truth_choice: A, choices: [A, B]}
"""


def _noise(folder, trials, model, name="t"):
    (folder / ".assay").mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(TASK.replace("TRIALS", trials))
    result = assay.run(folder / f"{name}.yaml", model=model)
    detail = result.report.scorers[0].metrics[0].result.detail
    said = [sample["scores"]["string_equals_mcqa"]["values"] for sample in result.samples()]
    return detail.get("noise"), np.array([values["is_correct"] for values in said])


def test_trials_that_differ_have_a_noise_floor_and_equal_ones_have_none(tmp_path):
    rng = random.Random(3)

    def wavering(messages, **parameters):
        return rng.choice("AB")

    def steady(messages, **parameters):
        return "A" if messages[-1]["content"] in "abc" else "B"

    found, scores = _noise(tmp_path, "{num_trials: 4}", wavering)
    table = scores.reshape(6, 4)
    assert found["floor"]["value"] == pytest.approx(np.sqrt(table.var(axis=1, ddof=1).mean() / (4 * 6)))
    assert found["difference_by_luck"]["value"] == pytest.approx(1.959964 * np.sqrt(2) * found["floor"]["value"])
    assert found["floor"]["low"] < found["floor"]["value"] < found["floor"]["high"]
    calm, _ = _noise(tmp_path, "{num_trials: 4}", steady)
    assert calm["floor"]["value"] == 0.0
    assert calm["floor"]["high"] > 0


def test_rows_that_became_of_one_answer_are_told_apart_by_their_number(tmp_path):
    def both(messages, **parameters):
        return "A B"

    split = """
    postprocessor:
      type: python
      postprocess_snippet: |
        from latticeflow.core.dtypes import SolverOutput

        def postprocess(sample, solver_output):
            return [(sample, SolverOutput(word)) for word in solver_output.output.split()]
  scorers:"""
    (tmp_path / ".assay").mkdir()
    (tmp_path / "split.yaml").write_text(TASK.replace("TRIALS", "{num_trials: 2}").replace("\n  scorers:", split))
    result = assay.run(tmp_path / "split.yaml", model=both, allow_code=True)
    (metric,) = result.report.scorers[0].metrics
    assert next(iter(metric.result.values.values())).value == 0.5
    # one row of every answer is right in both trials, the other wrong in both: nothing moved
    assert metric.result.detail["noise"]["floor"]["value"] == 0.0
    assert metric.result.detail["noise"]["floor"]["n"] == 12


def test_one_answer_or_another_rule_than_the_mean_has_no_noise_floor(tmp_path):
    def steady(messages, **parameters):
        return "A"

    assert _noise(tmp_path, "null", steady, "one")[0] is None
    rule = "{num_trials: 2, score_aggregators: [{score_name: is_correct, aggregator: {function: max}}]}"
    assert _noise(tmp_path, rule, steady, "most")[0] is None
