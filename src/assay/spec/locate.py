"""Validation errors as problems at their file, line and column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from assay.errors import Problem, SpecError
from assay.spec.document import Document, Steps
from assay.spec.messages import choice_meant, described, expected_of, message_of, quoted
from assay.spec.nearest import listing, nearest
from assay.spec.placeholder import has_placeholder
from assay.spec.source import problem_in
from assay.spec.walk import strings

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Fault:
    """A validation error at the value it is about."""

    steps: Steps
    value: Any
    error: Mapping[str, Any]

    @property
    def type(self) -> str:
        return str(self.error["type"])

    @property
    def field(self) -> str:
        """The field that is missing or unknown."""
        return str(self.error["loc"][-1])


class Checker:
    """Validates parts of a document one by one and collects what is wrong with each.

    `texts` holds the text of values that came from a lone `<< config.x >>`: a text field takes that.
    """

    def __init__(self, document: Document, texts: Mapping[Steps, str] | None = None) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self._texts = texts or {}

    def report(self, message: str, steps: Steps, suggestion: str | None = None, *, key: bool = False) -> None:
        """Note a problem at a value (or its key)."""
        self.problems.append(self.document.problem(message, steps, suggestion, key=key))

    def validated(self, model: type[Model], node: Any, steps: Steps, owner: str) -> Model | None:
        """The node as a model, or None and its problems noted."""
        try:
            return model.model_validate(node)
        except SpecError as error:
            self.problems += [self._placed(problem, steps) for problem in error.problems]
            return None
        except ValidationError as error:
            details = error.errors(include_url=False)
        spec_errors = [
            cause for detail in details if isinstance(cause := detail.get("ctx", {}).get("error"), SpecError)
        ]
        if spec_errors:
            # settings that read a file of their own know better where it is wrong
            self.problems += [self._placed(problem, steps) for cause in spec_errors for problem in cause.problems]
            return None
        faults = [_fault(node, detail) for detail in details]
        mended = self._with_texts(node, steps, faults)
        if mended is not None:
            return self.validated(model, mended, steps, owner)
        self.problems += self._fault_problems(model, node, steps, owner, faults)
        return None

    def _placed(self, problem: Problem, steps: Steps) -> Problem:
        """Locate a problem that the settings raised, at their start if it has no location of its own."""
        if problem.place is None:
            return self.document.problem(problem.message, steps, problem.suggestion)
        return problem_in(self.document.sources, problem.message, problem.place, problem.suggestion)

    def _with_texts(self, node: Any, steps: Steps, faults: list[Fault]) -> Any:
        """Convert parameters of other types to text where text is expected; None without a change."""
        texts = {
            fault.steps: self._texts[(*steps, *fault.steps)]
            for fault in faults
            if fault.type == "string_type" and (*steps, *fault.steps) in self._texts
            if not isinstance(fault.value, str)
        }
        return _replaced(node, texts) if texts else None

    def _fault_problems(
        self, model: type[BaseModel], node: Any, steps: Steps, owner: str, faults: list[Fault]
    ) -> Iterator[Problem]:
        unknown = [fault for fault in faults if fault.type == "extra_forbidden"]
        suggestions = {fault.steps: nearest(fault.field, _field_names(model, fault.error["loc"])) for fault in unknown}
        misspelled = {(*at[:-1], name) for at, name in suggestions.items()}
        already = {problem.place for problem in self.document.problems}
        for at, group in _grouped(faults).items():
            fault = group[0]
            place = (*steps, *at)
            # what could not be read at all (a missing !include) is not wrong a second time
            if fault.value is None and self.document.spot(place).value in already:
                continue
            if fault.type == "extra_forbidden":
                inside = _innermost(at[:-1], owner)
                fields = _field_names(model, fault.error["loc"])
                more = "" if suggestions[at] else f"; known: {listing(fields)}"
                message = f'unknown field "{fault.field}" in {inside}{more}'
                yield self.document.problem(message, place, suggestions[at], key=True)
            elif fault.type == "missing":
                for missing in group:
                    if (*at, missing.field) not in misspelled:
                        message = f'missing field "{missing.field}" in {_innermost(at, owner)}'
                        yield self.document.problem(message, place)
            elif not _is_open(fault.value):
                yield self._wrong_value(group, place)

    def _wrong_value(self, group: list[Fault], place: Steps) -> Problem:
        fault = group[0]
        expected = list(dict.fromkeys(filter(None, (expected_of(candidate.error) for candidate in group))))
        if not expected:
            name = f"{place[-1]}: " if place and isinstance(place[-1], str) and fault.steps else ""
            return self.document.problem(f"{name}{message_of(fault.error)}", place)
        message = f"expected {' or '.join(expected)}, got {described(fault.value)}"
        if place and isinstance(place[-1], str):
            message = f"{place[-1]}: {message}"
        cure = quoted(fault.value, self.document.spot(place).written) if "text" in expected else None
        if cure is not None:
            message = f"{message}; {cure}"
        return self.document.problem(message, place, choice_meant(fault.error))


def _fault(node: Any, error: Mapping[str, Any]) -> Fault:
    """Return the error at its path in the data, without the tags of unions in `loc`."""
    steps: list[str | int] = []
    value = node
    for part in error["loc"]:
        if _has(value, part):
            value = value[part]
            steps.append(part)
    if error["type"] == "union_tag_invalid" and isinstance(value, dict) and "type" in value:
        # the mapping is wrong in nothing but its type: the error is that of a choice among the types
        choice = {"type": "literal_error", "loc": error["loc"], "ctx": {"expected": error["ctx"]["expected_tags"]}}
        return Fault((*steps, "type"), value["type"], {**choice, "input": value["type"]})
    return Fault(tuple(steps), value, error)


def _innermost(steps: Steps, otherwise: str) -> str:
    """Return the innermost named field that contains a value, across nested lists."""
    return next((step for step in reversed(steps) if isinstance(step, str)), otherwise)


def _has(value: Any, part: Any) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def _grouped(faults: list[Fault]) -> dict[Steps, list[Fault]]:
    """Group errors by location; of a union's branches, only the deepest errors are reported."""
    groups: dict[Steps, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(fault.steps, []).append(fault)
    for at in list(groups):
        deeper = any(len(other) > len(at) and other[: len(at)] == at for other in groups)
        if deeper and all(expected_of(fault.error) is not None for fault in groups[at]):
            del groups[at]
    return groups


def _is_open(value: Any) -> bool:
    """Return whether the value contains a placeholder without a value, whose cause is reported elsewhere."""
    return any(has_placeholder(text) for _, text in strings(value))


def _replaced(node: Any, texts: Mapping[Steps, str], at: Steps = ()) -> Any:
    if at in texts:
        return texts[at]
    if isinstance(node, dict):
        return {name: _replaced(value, texts, (*at, name)) for name, value in node.items()}
    if isinstance(node, list):
        return [_replaced(value, texts, (*at, i)) for i, value in enumerate(node)]
    return node


def _field_names(model: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """Return the known field names at an unknown one."""
    models = {model}
    for part in loc[:-1]:
        inside = {
            submodel
            for parent in models
            if part in parent.model_fields
            for submodel in _models_in(parent.model_fields[part].annotation)
        }
        models = inside or models
    return sorted({name for parent in models for name in parent.model_fields})


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
