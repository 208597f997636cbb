from __future__ import annotations

from typing import Any

import pytest

from assay.spec.parameters import PARAMETERS, Parameter, accepted, from_command_line


def parameter(**fields: Any) -> Parameter:
    return PARAMETERS[fields["type"]].model_validate({"key": "p", "display_name": "P", **fields})


CATEGORY = {"type": "categorical", "allowed_values": ["low", 2, True]}


@pytest.mark.parametrize(
    ("fields", "text", "expected"),
    [
        ({"type": "int"}, " 7 ", 7),
        ({"type": "float"}, "7", 7.0),
        ({"type": "float"}, "1e-3", 0.001),
        ({"type": "boolean"}, "TRUE", True),
        ({"type": "string"}, "012", "012"),
        ({"type": "model"}, "openai/gpt", "openai/gpt"),
        ({"type": "dataset"}, "qa", "qa"),
        ({"type": "dataset_column"}, "answer", "answer"),
        ({"type": "list"}, "[1, a]", [1, "a"]),
        ({"type": "list", "dtype": "float"}, "[1, 2.5]", [1.0, 2.5]),
        ({"type": "dict", "value_dtype": "int"}, '{"a": 1}', {"a": 1}),
        (CATEGORY, "2", 2),
        (CATEGORY, "true", True),
        ({**CATEGORY, "values_mapping": {"low": 0.1}}, "low", 0.1),
        ({**CATEGORY, "multiple": True}, "low, 2", ["low", 2]),
        ({**CATEGORY, "multiple": True}, "[low, 2]", ["low", 2]),
        ({"type": "int", "nullable": True}, "null", None),
        ({"type": "string"}, "null", "null"),
        ({"type": "task_result"}, "other", "other"),
    ],
)
def test_text_from_the_command_line_becomes_the_parameters_type(
    fields: dict[str, Any], text: str, expected: Any
) -> None:
    found = from_command_line(parameter(**fields), text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("fields", "text", "words"),
    [
        ({"type": "int"}, "1.5", "expected a whole number"),
        ({"type": "float"}, "nan", "expected a number"),
        ({"type": "float", "min": 0.5}, "0.1", "expected a number >= 0.5, got 0.1"),
        ({"type": "boolean"}, "1", "expected true or false"),
        ({"type": "list"}, "a", "expected a list, got text"),
        ({"type": "list"}, "[a", "expected a list, got text"),
        ({"type": "dict"}, "[1]", "expected a mapping, got a list"),
        ({"type": "dict", "value_dtype": "boolean"}, "{a: 1}", "expected true or false"),
        (CATEGORY, "high", "expected one of low, 2, True"),
        ({**CATEGORY, "multiple": True}, "[high]", "expected one of low, 2, True"),
    ],
)
def test_what_a_parameter_cannot_take_is_told(fields: dict[str, Any], text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        from_command_line(parameter(**fields), text)


def test_typed_values_are_checked_too() -> None:
    assert accepted(parameter(type="float"), 1) == 1.0
    assert accepted(parameter(type="int", nullable=True), None) is None
    for fields, value in (
        ({"type": "int"}, True),
        ({"type": "string"}, 3),
        ({**CATEGORY}, 1),
        ({**CATEGORY, "multiple": True}, "low"),
        ({"type": "int"}, None),
    ):
        with pytest.raises(ValueError, match="expected"):
            accepted(parameter(**fields), value)
