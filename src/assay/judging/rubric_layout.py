"""Read the accepted rubric layouts into criteria, sections and guidelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.errors import Place, Problem
from assay.judging.criteria import Criterion
from assay.judging.total import Section
from assay.spec.document import Document, Steps
from assay.spec.fields import Located
from assay.spec.locate import Checker
from assay.spec.messages import described
from assay.spec.nearest import nearest

_LAYOUT = "a list of criteria, or a mapping with criteria, sections or rubric"
_TOP = ("criteria", "sections", "rubric", "guidelines", "name", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere(Document):
    """Rubric data that does not come from its own YAML file; `locate` returns the location of a value, if known."""

    locate: Callable[[Steps], Place | None] = field(repr=False)

    def problem(self, message: str, steps: Steps, suggestion: str | None = None, *, key: bool = False) -> Problem:
        """Report a problem with the value at `steps`, by its location or else by its path."""
        place = self.locate(steps)
        if place is None and steps:
            # `criteria[2].weight`: how a program would reach the value
            way = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            message = f"{way.removeprefix('.')}: {message}"
        return Problem(message=message, place=place, suggestion=suggestion)


class LayoutReader:
    """Goes through a rubric in any layout and collects its criteria."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.criteria: list[Criterion] = []
        self.sections: list[Section] = []
        self.guidelines: str | None = None

    def layout(self, data: Any, steps: Steps) -> None:
        if isinstance(data, list | tuple):
            self._entries(data, steps)
            return
        if not isinstance(data, Mapping):
            self._checker.report(f"expected {_LAYOUT}, got {described(data)}", steps)
            return
        self._check_fields(data, _TOP, steps, "the rubric")
        self._guidelines(data, steps)
        inside = [name for name in ("criteria", "sections", "rubric") if name in data]
        if not inside and any(nearest(str(name), _TOP) for name in data if name not in _TOP):
            return
        if len(inside) != 1:
            both = f"; it has {' and '.join(inside)}" if inside else ""
            self._checker.report(f"a rubric is {_LAYOUT}{both}", steps)
            return
        (name,) = inside
        if name == "rubric" and isinstance(data[name], Mapping) and "rubric" not in data[name]:
            self.layout(data[name], (*steps, name))
        elif isinstance(data[name], list | tuple):
            self._entries(data[name], (*steps, name), only_sections=name == "sections")
        else:
            self._checker.report(f"{name}: expected a list, got {described(data[name])}", (*steps, name))

    def _guidelines(self, data: Mapping[str, Any], steps: Steps) -> None:
        guidelines = data.get("guidelines")
        if guidelines is None:
            return
        if not isinstance(guidelines, str):
            self._checker.report(f"guidelines: expected text, got {described(guidelines)}", (*steps, "guidelines"))
        elif self.guidelines is not None:
            message = "the guidelines are given both beside and inside the rubric; give them once"
            self._checker.report(message, (*steps, "guidelines"), key=True)
        else:
            self.guidelines = str(guidelines)

    def _entries(self, entries: Sequence[Any], steps: Steps, *, only_sections: bool = False) -> None:
        for place, entry in enumerate(entries):
            at = (*steps, place)
            if isinstance(entry, Mapping) and ("criteria" in entry or (only_sections and "requirement" not in entry)):
                self._section(entry, at)
            else:
                self._criterion(entry, at)

    def _section(self, entry: Mapping[str, Any], steps: Steps) -> None:
        self._check_fields(entry, ("name", "criteria"), steps, "the section")
        name, criteria = entry.get("name"), entry.get("criteria")
        if name is None:
            name = f"section_{len(self.sections) + 1}"
        if not isinstance(name, str) or not name.strip():
            self._checker.report(f"name: expected text, got {described(name)}", (*steps, "name"))
            return
        if not isinstance(criteria, list | tuple) or not criteria:
            self._checker.report(f'the section "{name}" has no list of criteria', steps)
            return
        if any(section.name == name for section in self.sections):
            self._checker.report(f'there is already a section "{name}"', (*steps, "name"))
            return
        start = len(self.criteria)
        for place, criterion in enumerate(criteria):
            at = (*steps, "criteria", place)
            if isinstance(criterion, Mapping) and "criteria" in criterion:
                self._checker.report("a section cannot contain another section", at)
            else:
                self._criterion(criterion, at)
        self.sections.append(Section(name=str(name), start=start, stop=len(self.criteria)))

    def _criterion(self, entry: Any, steps: Steps) -> None:
        if isinstance(entry, Criterion):
            self.criteria.append(entry)
            return
        if not isinstance(entry, Mapping):
            message = f"expected a criterion, such as {{requirement: ...}}, got {described(entry)}"
            self._checker.report(message, steps)
            return
        criterion = self._checker.validated(Criterion, dict(entry), steps, "the criterion")
        if criterion is not None:
            self.criteria.append(criterion)

    def _check_fields(self, entry: Mapping[str, Any], field_names: tuple[str, ...], steps: Steps, parent: str) -> None:
        for name in entry:
            if name not in field_names:
                message = f'unknown field "{name}" in {parent}'
                self._checker.report(message, (*steps, name), nearest(str(name), field_names), key=True)


def nearest_place(data: Any, steps: Steps) -> Place | None:
    """Return the location of the value, or of the nearest text with a known location."""
    values = [data]
    for step in steps:
        holder = values[-1]
        try:
            values.append(holder[step])
        except (KeyError, IndexError, TypeError):
            break
    return next((place for place in map(_first_place, reversed(values)) if place is not None), None)


def _first_place(value: Any) -> Place | None:
    if isinstance(value, Located):
        return value.place
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return next((place for place in map(_first_place, inside) if place is not None), None)
