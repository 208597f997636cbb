from __future__ import annotations

from typing import Any

import pytest

from assay.spec.kind import RUN_KEYS, kind_of, not_a_task


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"definition": {"synthesizers": []}, "key": "a"}, "dataset generator"),
        ({"definition": {}, "task_specifications": []}, "task"),
        ({"definition": None}, "task"),
        ({"task_specifications": [], "source": {}}, "evaluation"),
        ({"source": {}, "config": {}, "key": "a"}, "dataset"),
        ({"generator_specification": {}}, "dataset"),
        ({"file_path": "a.csv", "key": "a"}, "dataset"),
        ({"data_source": {}}, "dataset"),
        ({"process_input": {}, "config": {}, "key": "a"}, "adapter"),
        ({"config": {}, "key": "a", "criteria": []}, "model"),
        ({"criteria": [], "tasks": []}, "rubric"),
        ({"sections": []}, "rubric"),
        ({"rubric": []}, "rubric"),
        ([{"requirement": "r", "weight": 1}], "rubric"),
        ([{"x": 1}], None),
        ([], None),
        ({"risk_scorer": {}}, "platform"),
        ({"type": "app"}, "platform"),
        ({"hello": 1}, None),
        ("text", None),
        *[({key: []}, "run") for key in RUN_KEYS],
    ],
)
def test_the_kind_of_a_file_is_told_by_its_keys_in_order(data: Any, kind: str | None) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize("kind", ["model", "adapter", "run", "evaluation", "platform", None])
def test_every_other_kind_has_one_line(kind: Any) -> None:
    assert "\n" not in not_a_task(kind)
