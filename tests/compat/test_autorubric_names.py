"""Every public name of AutoRubric 1.6.1 exists under `assay.rubric` and takes the same arguments.

`autorubric_names.json` lists the names with their parameters, fields, members and methods, read from the installed
package by introspection. A call that works there works here: parameters have the same names, order, kinds and defaults;
ours may have further keyword-only parameters and fields, and a default where AutoRubric has none.
"""

import dataclasses
import enum
import inspect
import json
import typing
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import BaseModel

LISTED = json.loads((Path(__file__).parent / "autorubric_names.json").read_text())
NAMES = [(module, name, entry) for module, content in LISTED.items() for name, entry in content["names"].items()]
ALSO = [(module, name) for module, content in LISTED.items() for name in content["also"]]
ABSENT = {
    "DecisionModelConfig",
    "ImprovementConfig",
    "ImprovementResult",
    "ImprovementRunner",
    "IssueDetail",
    "IterationResult",
    "evaluate_rubric_in_context",
    "evaluate_rubric_standalone",
    "get_in_context_meta_rubric",
    "get_standalone_meta_rubric",
    "improve_rubric",
}
"""Names that docs/from-autorubric.md calls absent, with the reason."""
EXTRA_CHOICES = {"AggregationStrategy", "OrdinalAggregation", "NominalAggregation"}
"""Types that have all values of AutoRubric's, and further ones of ours."""
MISSING_PARAMETERS = {("CriterionGrader", "escalation")}
"""Parameters of names that are absent."""


def plain(value):
    """A default as JSON holds it."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list | set | frozenset):
        return list(value)
    if value is None or isinstance(value, bool | int | float | str | dict):
        return value
    return "<factory>"


def check_parameters(expected, function, name, *, bound):
    actual = list(inspect.signature(function).parameters.values())
    if bound:
        actual = actual[1:]
    by_name = {parameter.name: parameter for parameter in actual}
    expected = [entry for entry in expected if (name, entry["name"]) not in MISSING_PARAMETERS]
    positional = [entry["name"] for entry in expected if entry["kind"] == "positional_or_keyword"]
    ours = [parameter.name for parameter in actual if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    assert ours[: len(positional)] == positional, f"{name}: order of parameters"
    for entry in expected:
        if entry["kind"] in ("var_positional", "var_keyword"):
            continue
        parameter = by_name[entry["name"]]
        assert entry["kind"] in (parameter.kind.name.lower(), "keyword_only"), f"{name}({entry['name']}): kind"
        if "default" in entry:
            assert plain(parameter.default) == entry["default"], f"{name}({entry['name']}): default"
    listed = {entry["name"] for entry in expected}
    for parameter in actual:
        if parameter.name not in listed and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            assert parameter.default is not parameter.empty, f"{name}({parameter.name}): must be optional"


def check_members(expected, actual, name):
    for member in expected["properties"]:
        assert hasattr(actual, member) or member in getattr(actual, "model_fields", {}) or member in fields_of(actual)
    for member, entry in expected["methods"].items():
        function = getattr(actual, member)
        assert inspect.iscoroutinefunction(function) == entry["async"], f"{name}.{member}: async"
        bound = entry["kind"] == "method"
        check_parameters(entry["parameters"], function, f"{name}.{member}", bound=bound)


def fields_of(kind):
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []


def check_model(expected, actual, name):
    assert issubclass(actual, BaseModel)
    for field, entry in expected["fields"].items():
        ours = actual.model_fields.get(field)
        assert ours is not None, f"{name}.{field}"
        if "default" in entry:
            assert not ours.is_required(), f"{name}.{field}: has a default"
            default = plain(ours.get_default(call_default_factory=True))
            assert default == entry["default"], f"{name}.{field}: default"
    extra = [
        field for field, ours in actual.model_fields.items() if field not in expected["fields"] and ours.is_required()
    ]
    assert not extra, f"{name}: {extra} must be optional"
    check_members(expected, actual, name)


def check_class(expected, actual, name):
    check_parameters(expected["parameters"], actual, name, bound=False)
    if expected["kind"] == "dataclass":
        assert dataclasses.is_dataclass(actual)
        assert set(expected["fields"]) - set(fields_of(actual)) <= {"judge_model_config"}
    check_members(expected, actual, name)


def check_literal(expected, actual, name):
    values = typing.get_args(actual)
    assert list(values[: len(expected["values"])]) == expected["values"]
    assert len(values) == len(expected["values"]) or name in EXTRA_CHOICES


def check(expected, actual, name):
    kind = expected["kind"]
    if kind == "enum":
        assert {member.name: member.value for member in actual} == expected["members"]
    elif kind == "model":
        check_model(expected, actual, name)
    elif kind in ("class", "dataclass"):
        check_class(expected, actual, name)
    elif kind == "function":
        assert inspect.iscoroutinefunction(actual) == expected["async"], f"{name}: async"
        check_parameters(expected["parameters"], actual, name, bound=False)
    elif kind == "literal":
        check_literal(expected, actual, name)
    elif kind == "typed_dict":
        assert sorted(actual.__annotations__) == expected["fields"]
    else:
        assert kind == "value"


@pytest.mark.parametrize(("module", "name", "entry"), [pytest.param(*each, id=each[1]) for each in NAMES])
def test_a_name_is_there_with_the_same_arguments(module, name, entry):
    if name in ABSENT:
        assert not hasattr(import_module(module), name), f"{name} is there: take it out of ABSENT"
        return
    check(entry, getattr(import_module(module), name), name)


@pytest.mark.parametrize(("module", "name"), ALSO)
def test_a_name_can_be_imported_from_its_other_modules(module, name):
    if name in ABSENT:
        return
    assert hasattr(import_module(module), name)
