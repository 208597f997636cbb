"""Published figures of real data, reproduced by the commands as a user runs them; skipped where the data are not."""

from __future__ import annotations

import pytest

MMLU = """
key: mmlu
display_name: MMLU
config_spec:
  - {type: dataset_column, key: prediction, display_name: Prediction}
definition:
  dataset: {source: {type: inline_samples, samples: [{answer_index: 0}]}}
  scorers:
    - type: string_equals
      ground_truth: "{{ 'ABCD'[sample.answer_index] }}"
      value: "{{ sample.<< config.prediction >> }}"
"""
CHECKPOINTS = (0, 50, 100, 150, 200)


@pytest.fixture(scope="module")
def mmlu(real_data, new_project):
    """A project with a run for each of the five checkpoints."""
    project = new_project()
    project.write("task.yaml", MMLU)
    data = real_data / "mmlu" / "predictions_5_checkpoints.csv.gz"
    runs = {}
    for checkpoint in CHECKPOINTS:
        column = f"prediction=pred_ckpt{checkpoint}"
        outcome = project.assay("run", "task.yaml", "--dataset", str(data), "--config", column, "-q", "--json")
        assert outcome.code == 0, outcome.err
        runs[checkpoint] = outcome.json
    return project, runs


def accuracy(document):
    return document["scorers"][0]["metrics"][0]["values"]["accuracy"]


def test_five_checkpoints_have_the_published_accuracies(mmlu):
    _, runs = mmlu
    found = [accuracy(runs[checkpoint]) for checkpoint in CHECKPOINTS]
    assert [round(value["value"], 4) for value in found] == [0.4692, 0.4668, 0.4623, 0.4638, 0.4625]
    assert {value["n"] for value in found} == {12_343}
    assert all(run["n_failed"] == 0 for run in runs.values())


@pytest.mark.parametrize(
    ("checkpoint", "p", "lost", "won"),
    [(50, 0.3914, 548, 519), (100, 0.01507, 640, 555), (150, 0.0653, 655, 589), (200, 0.02289, 675, 593)],
)
def test_comparisons_with_the_first_checkpoint_have_the_published_chances(mmlu, checkpoint, p, lost, won):
    project, runs = mmlu
    outcome = project.assay("compare", runs[0]["run"], runs[checkpoint]["run"], "--json")
    (found,) = outcome.json["comparisons"]
    assert found["p"] == pytest.approx(p, rel=2e-3)
    assert (found["losses"], found["wins"], found["test"]) == (lost, won, "mcnemar_exact")
    assert outcome.json["matching"][0]["n_common"] == 12_343
    assert outcome.code == (1 if p < 0.05 else 0)


def test_in_a_family_of_four_no_checkpoint_is_clearly_worse(mmlu):
    project, runs = mmlu
    ids = [runs[checkpoint]["run"] for checkpoint in CHECKPOINTS]
    outcome = project.assay("compare", *ids, "--json")
    assert outcome.code == 0, outcome.err
    adjusted = [found["p_adjusted"] for found in outcome.json["comparisons"]]
    assert adjusted == pytest.approx([0.3914, 4 * 0.01507, 2 * 0.0653, 3 * 0.02289], rel=5e-3)
    assert {found["verdict"] for found in outcome.json["comparisons"]} == {"no clear difference"}


GSM8K = """
key: gsm8k
display_name: GSM8K
config_spec:
  - {type: dataset_column, key: model, display_name: Model}
definition:
  dataset: {source: {type: inline_samples, samples: [{ground_truth: "A: 1"}]}}
  scorers:
    - type: numeric_equals
      ground_truth: "{{ sample.ground_truth }}"
      value: "{{ sample['<< config.model >>'].solution }}"
      pattern: 'A:\\s*(.*)'
"""


@pytest.fixture(scope="module")
def gsm8k(real_data, new_project):
    project = new_project()
    project.write("task.yaml", GSM8K)
    data = real_data / "gsm8k" / "example_model_solutions.jsonl.gz"
    runs = {}
    for model in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
        outcome = project.assay(
            "run", "task.yaml", "--dataset", str(data), "--config", f"model={model}", "-q", "--json"
        )
        assert outcome.code == 0, outcome.err
        runs[model] = outcome.json
    return project, runs


def test_four_models_have_the_published_accuracies_on_gsm8k(gsm8k):
    _, runs = gsm8k
    found = [round(100 * accuracy(run)["value"], 2) for run in runs.values()]
    assert found == [21.68, 39.04, 34.72, 56.25]
    assert {accuracy(run)["n"] for run in runs.values()} == {1_319}


def test_every_single_verdict_on_gsm8k_is_the_published_one(gsm8k):
    project, runs = gsm8k
    equal = 0
    for model, run in runs.items():
        outcome = project.assay("samples", run["run"], "--json")
        for entry in outcome.lines:
            mine = entry["scores"]["numeric_equals"]["values"]["is_correct"]
            equal += bool(mine) == entry["sample"][model]["is_correct"]
    assert equal == 5_276
