from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from assay.registry import Registry
from assay.spec.schema import schemas

TASK: dict[str, Any] = {
    "key": "qa",
    "display_name": "QA",
    "description": "d",
    "config_spec": [{"type": "int", "key": "n", "display_name": "N", "min": 1}],
    "definition": {
        "dataset": {"key": "answers"},
        "solver": {"type": "pass_through_solver", "trace_column": "x"},
        "scorers": [{"type": "equals", "ground_truth": "x", "metrics": [{"type": "mean", "field": "f"}]}],
    },
}


def errors(registry: Registry, sort: str, data: Any) -> list[str]:
    schema = schemas(registry)[sort]
    Draft202012Validator.check_schema(schema)
    return [error.message for error in Draft202012Validator(schema).iter_errors(data)]


def test_a_right_task_and_a_right_dataset_pass(registry: Registry) -> None:
    assert errors(registry, "task", TASK) == []
    dataset = {"key": "a", "display_name": "A", "source": {"type": "local", "file_path": "a.csv"}}
    assert errors(registry, "dataset", dataset) == []


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("definition", "scorers", 0, "ground_truht"), "x"),
        (("definition", "scorers", 0, "type"), "equal"),
        (("definition", "scorers", 0, "metrics", 0, "type"), "maen"),
        (("definition", "solver", "type"), "nope"),
        (("definition", "dataset", "kye"), "a"),
        (("config_spec", 0, "type"), "integer"),
        (("unknown",), 1),
    ],
)
def test_what_loading_refuses_the_schema_refuses(registry: Registry, way: tuple[Any, ...], value: Any) -> None:
    task = copy.deepcopy(TASK)
    inside: Any = task
    for step in way[:-1]:
        inside = inside[step]
    inside[way[-1]] = value
    assert errors(registry, "task", task)


def test_a_wrong_source_is_refused(registry: Registry) -> None:
    assert errors(registry, "dataset", {"key": "a", "display_name": "A", "source": {"type": "nope"}})
