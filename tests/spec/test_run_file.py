"""Run files: what they define, and how their specifications are named and filled in."""

from pathlib import Path

import pytest

from assay.spec.run_file import load_run

EVALUATION = """
evaluation:
  key: e
  display_name: E
  task_specifications:
    - {task_key: qa}
    - {task_key: qa}
    - {task_key: qa, key: qa_1}
    - {task_key: other, dataset_key: rows, task_config: {n: << config.n >>}}
config: {n: 3}
"""


def load(folder: Path, text: str, **how):
    (folder / ".assay").mkdir(exist_ok=True)
    path = folder / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return load_run(path, strict=True, environment={"SECRET": "s3cret"}, **how)


def test_specifications_are_called_after_their_task_and_numbered(tmp_path):
    run = load(tmp_path, EVALUATION)
    assert [each.key for each in run.specifications] == ["qa", "qa_2", "qa_1", "other"]
    assert not run.problems


def test_values_flow_from_the_run_to_the_task_with_their_type(tmp_path):
    *_, last = load(tmp_path, EVALUATION).specifications
    assert last.settings.task_config == {"dataset_key": "rows", "n": 3}


def test_the_command_line_beats_the_file(tmp_path):
    *_, last = load(tmp_path, EVALUATION, config={"n": "9"}).specifications
    assert last.settings.task_config["n"] == "9"


def test_a_run_file_defines_models_datasets_and_tasks(tmp_path):
    text = """
secrets: {token: $SECRET}
models:
  - $provider: openai/GPT-4.1-nano
  - {key: mine, display_name: Mine, config: {url: "http://localhost/x", api_key: << secrets.token >>}}
datasets: [{key: d, display_name: D, source: {type: local, file_path: x.csv}}]
tasks: [{key: t, display_name: T, definition: {}}]
"""
    run = load(tmp_path, text)
    assert not run.problems
    assert run.definitions.providers == {"openai$gpt-4-1-nano": "openai/GPT-4.1-nano"}
    assert run.definitions.keys("model") == ["mine"]
    mine = run.definitions.find("model", "mine")
    assert mine.data["secrets"] == {"token": "$SECRET"}
    assert mine.problem("here", ("config", "url")).place.line == 5
    assert run.definitions.find("dataset", "t") is None


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("models: [3]", "expected a model, got a number (3)", 1),
        ("tasks: [{key: d, display_name: D, source: {type: local}}]", "expected a task, got a dataset", 1),
        ("models: [{$provider: gpt}]", 'expected provider/model, such as "openai/gpt-5-mini"', 1),
        ("models: [{$provider: a/b, key: c}]", '"key" cannot be combined with $provider', 1),
        ("modles: []\nmodels: []", 'unknown field "modles" in the run file', 1),
        ("run_config: {num_samples: 0}", "num_samples: expected", 1),
        ("models: []\nevaluation: nowhere", 'no evaluation has the key "nowhere"', 2),
        ("policies: [{key: p, rules: []}]", "rules", 1),
        ("policies: [{key: p, rules: [{key: r, definition: {type: threshold, metric: m}}]}]", 'needs "operator"', 1),
        (
            'policies: [{key: p, rules: [{key: r, definition: {type: threshold, metric: m, operator: "=>",'
            " threshold: 0.9}}]}]",
            "operator: expected one of",
            1,
        ),
        (
            "policies: [{key: p, rules: [{key: r, definition: {type: exists, metric: m, threshold: 0.9}}]}]",
            'takes no "threshold"',
            1,
        ),
        ("evaluation: {key: e, display_name: E, task_specifications: [{model_key: m}]}", 'needs "task_key"', 1),
        (
            "evaluation: {key: e, display_name: E, task_specifications: [{type: repeatability}]}",
            'needs "repeatability_config" and "inputs"',
            1,
        ),
        (
            "evaluation: {key: e, display_name: E, task_specifications: [{task_key: a, key: x}, {task_key: b, key: x}]}"
            "\n",
            'there is already a specification with the key "x"',
            1,
        ),
        (
            "evaluation: {key: e, display_name: E, task_specifications: [{task_key: << config.t >>}]}",
            'there is no config parameter "t"',
            1,
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_place(tmp_path, text, words, line):
    problems = load(tmp_path, text).problems
    found = [problem for problem in problems if words in problem.message]
    assert found, problems
    assert found[0].place.line == line


def test_a_file_of_the_project_may_be_the_evaluation(tmp_path):
    (tmp_path / "e.yaml").write_text("key: e\ndisplay_name: E\nmode: full\ntask_specifications: [{task_key: t}]\n")
    run = load(tmp_path, "evaluation: e\n")
    assert [each.key for each in run.specifications] == ["t"]
    assert run.evaluation.display_name == "E"


def test_old_spellings_are_taken_with_a_note(tmp_path):
    run = load(tmp_path, EVALUATION.replace("  key: e\n", "  key: e\n  mode: debug\n"))
    assert not run.problems
    assert [note.message for note in run.notes] == ['deprecated: "mode" is ignored']
