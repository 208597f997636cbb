"""Filters: conditions on columns, all of which must hold for a sample to be kept."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import ValidationError, field_validator, model_validator

from assay.datasets.batch import Batch
from assay.errors import Problem, SpecError
from assay.spec.fields import Located, Settings, SourceSpec
from assay.spec.nearest import listing, nearest
from assay.templates import TemplateFailure, check_syntax, columns_read, names_read, render_value

Op = Literal[
    "equals",
    "not_equals",
    "greater_than",
    "less_than",
    "greater_or_equal",
    "less_or_equal",
    "in",
    "not_in",
    "exists",
    "not_exists",
    "is_true",
    "is_false",
]
_WITH_VALUES = ("in", "not_in")
_ALONE = ("exists", "not_exists", "is_true", "is_false")
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "greater_than": operator.gt,
    "less_than": operator.lt,
    "greater_or_equal": operator.ge,
    "less_or_equal": operator.le,
}
_COLUMN = re.compile(r"""sample\s*(?:\.\s*(?P<name>[^\s\[\]'"{}]+)|\[\s*(?P<quote>['"])(?P<item>.+)(?P=quote)\s*\])""")
_OPERATOR = re.compile(r"[|()+*/%<>=!,~]")
_VARIABLE = re.compile(r"\b(?:sample|scores)\s*[.\[]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ABSENT: Any = object()


class Filter(Settings):
    """A condition on a column or an expression: `op`, `expression`, and `value` or `values` where the op wants one."""

    op: Op
    expression: Located
    value: Any = None
    values: list[Any] | None = None

    @field_validator("expression")
    @classmethod
    def _can_be_read(cls, expression: Located) -> Located:
        if not expression.strip() or _inner(expression) == "":
            raise ValueError(
                'the expression is empty; expected "{{ sample.x }}", "sample.x", "x" or any Jinja expression'
            )
        if _column_of(expression) is None:
            wrong = check_syntax(_template_of(expression))
            if wrong is not None:
                raise ValueError(f'"{expression}" is not a Jinja expression: {wrong}')
        return expression

    @model_validator(mode="after")
    def _has_what_it_compares_with(self) -> Self:
        needed = "values" if self.op in _WITH_VALUES else None if self.op in _ALONE else "value"
        present = self.model_fields_set & {"value", "values"}
        for name in sorted(present - {needed}):
            raise ValueError(f'"{self.op}" takes no "{name}"')
        if needed is not None and needed not in present:
            raise ValueError(f'"{self.op}" needs "{needed}"')
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the expression reads and every dataset must have."""
        column = _column_of(self.expression)
        return _columns_of(self.expression) if column is None else (column,)

    def holds(self, sample: Mapping[str, Any], scores: Mapping[str, Any] | None = None) -> bool:
        """Return whether a sample is kept; `scores` are available to conditions on the result of a run.

        >>> Filter(op="equals", expression="level", value=3).holds({"level": "3"})
        True
        >>> Filter(op="is_true", expression="{{ sample.level * 2 > 5 }}").holds({"level": 3})
        True
        """
        value = self._value(sample, scores)
        if self.op in _ORDERS:
            return _ordered(_ORDERS[self.op], value, self.value)
        return _CHECKS[self.op](self, value)

    def _value(self, sample: Mapping[str, Any], scores: Mapping[str, Any] | None) -> Any:
        """Evaluate the expression; None if it reads a missing value."""
        column = _column_of(self.expression)
        if column is not None:
            value = _look_up(sample, column)
            return None if value is _ABSENT else value
        variables = {**sample, "sample": sample, **({} if scores is None else {"scores": scores})}
        try:
            return render_value(_template_of(self.expression), variables)
        except TemplateFailure as error:
            if error.missing or "is undefined" in str(error):
                return None
            message = f'the filter "{self.expression}" cannot be evaluated: {error}'
            raise SpecError(Problem(message=message, place=self.expression.place)) from None


_CHECKS: dict[str, Callable[[Filter, Any], bool]] = {
    "equals": lambda rule, value: _same(value, rule.value),
    "not_equals": lambda rule, value: not _same(value, rule.value),
    "in": lambda rule, value: any(_same(value, entry) for entry in rule.values or ()),
    "not_in": lambda rule, value: not any(_same(value, entry) for entry in rule.values or ()),
    "exists": lambda rule, value: value is not None,
    "not_exists": lambda rule, value: value is None,
    "is_true": lambda rule, value: _text(value) == "true",
    "is_false": lambda rule, value: _text(value) == "false",
}


class FilteredSource(SourceSpec):
    """A dataset source whose filters are checked when the file is loaded."""

    filters: list[Filter] | None = None


def parse_filters(entries: Sequence[Any]) -> list[Filter]:
    """Filters from a file's entries; all that is wrong with them comes at once."""
    filters, problems = [], []
    for index, entry in enumerate(entries):
        try:
            filters.append(entry if isinstance(entry, Filter) else Filter.model_validate(entry))
        except ValidationError as error:
            for wrong in error.errors():
                at = ".".join(map(str, ("filters", index, *wrong["loc"])))
                problems.append(Problem(message=f"{at}: {wrong['msg'].removeprefix('Value error, ')}"))
    if problems:
        raise SpecError(problems)
    return filters


def filtered(batches: Iterable[Batch], filters: Sequence[Filter]) -> Iterator[Batch]:
    """Return the samples for which every filter holds, with their original ids.

    A column that no sample of the whole dataset has is an error: a misspelt name must not empty a dataset.
    """
    start = 0
    unseen = {column: rule for rule in filters if rule.op != "not_exists" for column in rule.columns}
    columns: dict[str, None] = {}
    for batch in batches:
        if unseen:
            columns.update(dict.fromkeys(batch.samples[0]))
            unseen = {c: r for c, r in unseen.items() if all(_look_up(s, c) is _ABSENT for s in batch.samples)}
        places = [i for i, sample in enumerate(batch.samples) if all(rule.holds(sample) for rule in filters)]
        if len(places) == len(batch):
            yield replace(batch, start=start)
        elif places:
            yield batch.part(places, start)
        start += len(places)
    if unseen and columns:
        raise SpecError([_no_column(column, rule, columns) for column, rule in unseen.items()])


def _no_column(column: str, rule: Filter, columns: Iterable[str]) -> Problem:
    return Problem(
        message=f'the filter reads the column "{column}", which no sample has ({listing(columns)})',
        place=rule.expression.place,
        suggestion=nearest(column, columns),
    )


def _inner(expression: str) -> str:
    """The expression without its braces."""
    inner = expression.strip()
    is_braced = inner.startswith("{{") and inner.endswith("}}") and "{{" not in inner[2:]
    return inner[2:-2].strip() if is_braced else inner


@lru_cache(maxsize=256)
def _column_of(expression: str) -> str | None:
    """The column in `{{ sample.x }}`, `sample.x`, `sample["x"]`, `{{ x }}` or a bare `x`; None for other expressions.

    A bare text that names neither the sample nor its scores is a column, however it is spelt.
    """
    inner = _inner(expression)
    match = _COLUMN.fullmatch(inner)
    if match is not None and not _OPERATOR.search(match["name"] or ""):
        return match["name"] or match["item"]
    if inner == expression.strip():
        return None if _VARIABLE.search(inner) or "{" in inner else inner
    return inner if _NAME.fullmatch(inner) and inner not in ("sample", "scores") else None


def _template_of(expression: str) -> str:
    return expression if "{{" in expression or "{%" in expression else f"{{{{ {expression} }}}}"


@lru_cache(maxsize=256)
def _columns_of(expression: str) -> tuple[str, ...]:
    """The columns that a Jinja expression reads, as `sample.x` or by their names alone."""
    template = _template_of(expression)
    sample_columns = (use.name for use in columns_read(template))
    return tuple(dict.fromkeys((*sample_columns, *sorted(names_read(template) - {"sample", "scores"}))))


def _look_up(sample: Mapping[str, Any], column: str) -> Any:
    """The value of a column; a dotted name that is no column goes into nested objects."""
    if column in sample:
        return sample[column]
    value: Any = sample
    for name in column.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _same(value: Any, expected: Any) -> bool:
    """Equal as typed values, else as text; null equals only null."""
    if value is None or expected is None:
        return value is expected
    if isinstance(value, bool) == isinstance(expected, bool) and value == expected:
        return True
    return _text(value) == _text(expected)


def _text(value: Any) -> str:
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


def _ordered(compare: Callable[[Any, Any], bool], value: Any, expected: Any) -> bool:
    """Order two values as numbers if one is a number and the other parses as one, else as text."""
    if any(operand is None or isinstance(operand, bool | list | dict) for operand in (value, expected)):
        return False
    if isinstance(value, str) and isinstance(expected, str):
        return compare(value, expected)
    left, right = _number(value), _number(expected)
    if left is None or right is None:
        return compare(str(value), str(expected))
    return compare(left, right)


def _number(value: Any) -> int | float | None:
    if isinstance(value, int):
        return value
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
