"""The values of a task's parameters, and `<< config.x >>` replaced by them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.errors import Problem
from assay.spec.document import Steps
from assay.spec.locate import Checker
from assay.spec.nearest import listing, nearest
from assay.spec.parameters import PARAMETERS, Parameter, accepted, from_command_line
from assay.spec.placeholder import PLACEHOLDER, text_of
from assay.spec.walk import changed, relocated

_OF_SAMPLE = re.compile(r"(sample\s*(?:\[\s*[\"']|\.))<< config\.([a-zA-Z0-9_-]+) >>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The parameters of a task with their values; those without one are `open`.

    `named` are the parameters that name one of several datasets: `sample["<< config.x >>"]` means their own name.
    """

    values: Mapping[str, Any]
    open: frozenset[str]
    notes: tuple[Problem, ...] = ()
    named: frozenset[str] = frozenset()


def resolve_config(
    spec: Any,
    overrides: Mapping[str, Any],
    checker: Checker,
    *,
    strict: bool,
    steps: Steps = ("config_spec",),
    owner: str = "the task",
) -> Config:
    """Resolve the value of every parameter: the given one, else its default; problems go to the checker."""
    parameters = _parameters(spec, checker, steps)
    values: dict[str, Any] = {}
    open_: set[str] = set()
    notes: list[Problem] = []
    for key in overrides:
        if key not in parameters:
            suggestion = nearest(key, parameters)
            choices = "" if suggestion else f"; known: {listing(parameters)}"
            checker.problems.append(
                Problem(message=f'{owner} has no config parameter "{key}"{choices}', suggestion=suggestion)
            )
    for key, (parameter, at) in parameters.items():
        try:
            if parameter is None:
                open_.add(key)
            elif key in overrides:
                accept = from_command_line if isinstance(overrides[key], str) else accepted
                values[key] = accept(parameter, overrides[key])
            elif "default_value" in parameter.model_fields_set or parameter.nullable:
                values[key] = accepted(parameter, parameter.default_value)
            else:
                open_.add(key)
                message = f'the config parameter "{key}" has no value: give --config {key}=VALUE'
                (checker.problems if strict else notes).append(checker.document.problem(message, at))
        except ValueError as error:
            open_.add(key)
            if key in overrides:
                checker.problems.append(Problem(message=f'config parameter "{key}": {error}'))
            else:
                checker.report(f'default of "{key}": {error}', (*at, "default_value"))
    return Config(values=values, open=frozenset(open_), notes=tuple(notes))


def _parameters(spec: Any, checker: Checker, steps: Steps) -> dict[str, tuple[Parameter | None, Steps]]:
    """Parameters by key; one that is wrong is None, so that its placeholders are not called unknown."""
    parameters: dict[str, tuple[Parameter | None, Steps]] = {}
    for i, node in enumerate(spec if isinstance(spec, list) else []):
        at = (*steps, i)
        if not isinstance(node, dict):
            checker.report("expected a parameter, such as {type: string, key: name, display_name: Name}", at)
            continue
        parameter = _parameter(node, checker, at)
        key = node.get("key")
        if not isinstance(key, str):
            continue
        if key in parameters:
            checker.report(f'there is already a parameter with the key "{key}"', (*at, "key"))
            continue
        parameters[str(key)] = (parameter, at)
    return parameters


def _parameter(node: dict[str, Any], checker: Checker, at: Steps) -> Parameter | None:
    kind = node.get("type")
    model = PARAMETERS.get(kind) if isinstance(kind, str) else None
    if model is not None:
        return checker.validated(model, node, at, f"the {kind} parameter")
    if kind is None:
        checker.report(f'missing field "type" in the parameter; known: {listing(PARAMETERS)}', at)
    else:
        suggestion = nearest(str(kind), PARAMETERS)
        checker.report(f'unknown parameter type "{kind}"; known: {listing(PARAMETERS)}', (*at, "type"), suggestion)
    return None


@dataclass(slots=True)
class Substitution:
    """A definition with its placeholders replaced; `texts` is the text of values that are not text."""

    data: Any
    texts: dict[Steps, str] = field(default_factory=dict)


def substitute(data: Any, config: Config, checker: Checker, steps: Steps, *, secrets: bool = False) -> Substitution:
    """Every `<< config.x >>` replaced; alone in its string it keeps the parameter's type.

    `<< secrets.x >>` is left as it is where `secrets` may stand, and a problem elsewhere.
    """
    done = Substitution(None)

    def change(at: Steps, text: str) -> Any:
        if "<< " not in text:
            return text
        lone = PLACEHOLDER.fullmatch(text)
        if lone is not None and lone[1] == "config" and lone[2] in config.values:
            value = config.values[lone[2]]
            if isinstance(value, str):
                return relocated(value, text)
            if value is not None:
                done.texts[at] = text_of(value)
            return value
        return relocated(_filled(text, config, checker, at, secrets=secrets), text)

    done.data = changed(data, change, steps)
    return done


def _filled(text: str, config: Config, checker: Checker, at: Steps, *, secrets: bool) -> str:
    def named(match: Any) -> str:
        return f"{match[1]}{match[2]}" if match[2] in config.named else str(match[0])

    def replaced(match: Any) -> str:
        sort, name = match[1], match[2]
        if sort == "config" and name in config.values:
            return text_of(config.values[name])
        if sort == "secrets":
            if secrets:
                return str(match[0])
            checker.report("secrets are allowed only in models and generators, not in a task", at)
        elif name not in config.open:
            names = [*config.values, *config.open]
            suggestion = nearest(name, names)
            choices = "" if suggestion else f"; known: {listing(names)}"
            checker.report(f'there is no config parameter "{name}"{choices}', at, suggestion)
        return str(match[0])

    return PLACEHOLDER.sub(replaced, _OF_SAMPLE.sub(named, text))
