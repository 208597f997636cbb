from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

import assay.cli.projects as projects

TASKS = [path for path in Path(projects.__file__).parent.rglob("*.yaml") if "definition" in path.read_text()]


@pytest.mark.parametrize("kind", ["task", "dataset"])
def test_it_is_a_json_schema(cli, kind):
    said = cli("schema", kind)
    assert said.code == 0
    Draft202012Validator.check_schema(said.json)


def test_there_are_tasks_that_ship():
    assert len(TASKS) >= 4


@pytest.mark.parametrize("task", TASKS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_tasks_that_ship_are_valid(cli, task):
    problems = Draft202012Validator(cli("schema").json).iter_errors(yaml.safe_load(task.read_text()))
    assert list(problems) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("string_equals_mcqa", "string_equals_mcq"),
        ("ground_truth_choice", "ground_truth_choise"),
        ("display_name: ", "name: "),
        ("type: mean", "type: average"),
        ("pass_through_solver", "pass_solver"),
    ],
)
def test_a_wrong_task_is_not_valid(cli, right, wrong):
    text = (Path(projects.__file__).parent / "mcqa" / "task.yaml").read_text()
    assert right in text
    validator = Draft202012Validator(cli("schema").json)
    assert validator.is_valid(yaml.safe_load(text))
    assert not validator.is_valid(yaml.safe_load(text.replace(right, wrong)))


def test_dataset_files_have_a_schema_of_their_own(cli):
    validator = Draft202012Validator(cli("schema", "dataset").json)
    dataset = {"key": "d", "display_name": "D", "source": {"type": "local", "file_path": "d.csv"}}
    assert validator.is_valid(dataset)
    assert not validator.is_valid({**dataset, "source": {"type": "local"}})
