"""Render templates over a batch of rows: one value per row, or a failure."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.errors import TemplateFailure
from assay.templates.messages import MOST_TEXT, failure_at, missing_text, too_long
from assay.templates.shape import ColumnLookup, Constant, ReplyLookup, shape
from assay.templates.variables import row_variables
from assay.types import Column, Failure, FailureKind, Rows

_MOST_LITERAL = 64 * 1024


def render_value(template: str, variables: Mapping[str, Any]) -> Any:
    """The value of a template that is one expression, its text otherwise.

    >>> render_value("{{ n + 1 }}", {"n": 1}), render_value("n={{ n }}", {"n": 1})
    (2, 'n=1')
    """
    simple = shape(str(template))
    if isinstance(simple, Constant):
        return simple.text
    from assay.templates.compiled import compiled, failure

    try:
        value = compiled(str(template)).value(variables)
        if isinstance(value, str) and len(value) > MOST_TEXT:
            raise too_long()
        return str(value) if isinstance(value, str) else value
    except TemplateFailure as error:
        raise failure_at(template, 1, str(error), missing=error.missing) from error
    except Exception as error:  # the boundary of templates: whatever goes wrong inside one ends here
        raise failure(template, error, variables) from error


def render_text(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template as text: `3` becomes "3", None becomes "None".

    >>> render_text("{{ n }}", {"n": 3})
    '3'
    """
    return _text(template, render_value(template, variables))


def _text(template: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if callable(value):
        name = getattr(value, "__name__", "the value")
        raise failure_at(template, 1, f"{name} is a function: call it with ()", missing=False)
    try:
        text = str(value)
    except Exception as error:  # a number too long to print, a value nested too deeply
        raise failure_at(template, 1, f"the value has no text: {error}", missing=False) from error
    if len(text) > MOST_TEXT:
        raise failure_at(template, 1, str(too_long()), missing=False)
    return text


def values(template: str, rows: Rows, *, stage: str = "score") -> Column:
    """The value of the template for every row.

    >>> rows = Rows(positions=[0, 1], ids=["0", "1"], samples=[{"n": 1}, {"n": "1"}])
    >>> values("{{ sample.n }}", rows).values
    [1, '1']
    """
    simple = shape(str(template))
    if isinstance(simple, Constant):
        return Column(values=[simple.text] * len(rows))
    if isinstance(simple, ColumnLookup):
        return _column(template, simple, rows, stage)
    if isinstance(simple, ReplyLookup) and rows.answers is not None:
        return Column(values=list(rows.answers))
    return _column_by_row(range(len(rows)), lambda i: render_value(template, row_variables(rows, i)), stage)


def texts(template: str, rows: Rows, *, stage: str = "score") -> Column:
    """The text of the template for every row.

    >>> rows = Rows(positions=[0, 1], ids=["0", "1"], samples=[{"n": 1}, {"n": None}])
    >>> texts("{{ sample.n }}", rows).values
    ['1', 'None']
    """
    return as_texts(template, values(template, rows, stage=stage), stage=stage)


def row_text(template: str, rows: Rows, *, stage: str = "score") -> str | Failure:
    """The text of the template for the only row of a batch, without the columns that many rows need.

    >>> row_text("{{ sample.n }}", Rows(positions=[0], ids=["0"], samples=[{"n": 1}]))
    '1'
    """
    simple = shape(str(template))
    if isinstance(simple, Constant):
        return simple.text
    if isinstance(simple, ColumnLookup):
        value = rows.samples[0].get(simple.name)
        if type(value) is str:
            return value
    column = texts(template, rows, stage=stage)
    if column.failures:
        return column.failures[0]
    text: str = column.values[0]
    return text


def as_texts(template: str, column: Column, *, stage: str = "score") -> Column:
    """The values that a template gave as text.

    >>> as_texts("{{ sample.n }}", Column(values=[1, "1"])).values
    ['1', '1']
    """
    if isinstance(shape(str(template)), Constant | ReplyLookup):
        return column
    try:
        if column.failures:
            return _reread(column, lambda value: _text(template, value), stage)
        return Column(values=[v if type(v) is str else _text(template, v) for v in column.values])
    except TemplateFailure:
        return _reread(column, lambda value: _text(template, value), stage)


def lists(template: str | list[Any], rows: Rows, *, stage: str = "score") -> Column:
    """A list for every row: a native one, else JSON text, else a Python literal.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"c": '["A", "B"]'}])
    >>> lists("{{ sample.c }}", rows).values
    [['A', 'B']]
    """
    if not isinstance(template, str):
        return _side_by_side(template, rows, stage)
    return _structures(template, rows, stage, list)


def objects(template: str | Mapping[str, Any], rows: Rows, *, stage: str = "score") -> Column:
    """A mapping for every row, read like a list.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"c": "{'a': 1}"}])
    >>> objects("{{ sample.c }}", rows).values
    [{'a': 1}]
    """
    if isinstance(template, str):
        return _structures(template, rows, stage, dict)
    column = _side_by_side(list(template.values()), rows, stage)
    return _reread(column, lambda entries: dict(zip(template, entries, strict=True)), stage)


def _column(template: str, lookup: ColumnLookup, rows: Rows, stage: str) -> Column:
    name = lookup.name
    try:
        return Column(values=[sample[name] for sample in rows.samples])
    except KeyError:
        pass

    def one(i: int) -> Any:
        sample = rows.samples[i]
        if name in sample:
            return sample[name]
        if name == "sample_id":
            return rows.ids[i]
        cause = missing_text("the sample", name, tuple(sample))
        raise failure_at(template, lookup.line, cause, missing=True)

    return _column_by_row(range(len(rows)), one, stage)


def _side_by_side(parts: Sequence[Any], rows: Rows, stage: str) -> Column:
    columns = [
        values(part, rows, stage=stage)
        if isinstance(part, str)
        else lists(part, rows, stage=stage)
        if isinstance(part, list)
        else objects(part, rows, stage=stage)
        if isinstance(part, Mapping)
        else Column(values=[part] * len(rows))
        for part in parts
    ]
    failures: dict[int, Failure] = {}
    for column in reversed(columns):
        failures.update(column.failures)
    return Column(
        values=[None if i in failures else [c.values[i] for c in columns] for i in range(len(rows))],
        failures=dict(sorted(failures.items())),
    )


def _structures(template: str, rows: Rows, stage: str, kind: type) -> Column:
    """Text is read once however often it comes: a constant costs one reading."""
    seen: dict[str, Any] = {}

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return _structure(template, value, kind)
        if value not in seen:
            seen[value] = _structure(template, value, kind)
        return seen[value]

    return _reread(values(template, rows, stage=stage), read, stage)


def _structure(template: str, value: Any, kind: type) -> Any:
    native = _native(value, kind)
    if native is None and isinstance(value, str):
        native = _native(_from_json(value), kind)
        if native is None:
            native = _native(_from_literal(value), kind)
    if native is None:
        word = "a list" if kind is list else "a mapping"
        text = repr(value)
        got = text if len(text) <= 80 else text[:77] + "..."
        raise failure_at(template, 1, f"expected {word}, got {got}", missing=False)
    return native


def _native(value: Any, kind: type) -> Any:
    if kind is list:
        return list(value) if isinstance(value, list | tuple) else None
    return dict(value) if isinstance(value, Mapping) else None


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _from_literal(text: str) -> Any:
    if len(text.encode("utf-8", "surrogatepass")) > _MOST_LITERAL:
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _column_by_row(places: Sequence[int], one: Callable[[int], Any], stage: str) -> Column:
    results: list[Any] = []
    failures: dict[int, Failure] = {}
    for i in places:
        try:
            results.append(one(i))
        except TemplateFailure as error:
            kind: FailureKind = "missing_field" if error.missing else "template"
            failures[i] = Failure(stage=stage, kind=kind, detail=str(error))
            results.append(None)
    return Column(values=results, failures=failures)


def _reread(column: Column, read: Callable[[Any], Any], stage: str) -> Column:
    """A column with every value read anew; rows that failed stay failed."""
    reread = _column_by_row(
        range(len(column.values)),
        lambda i: None if i in column.failures else read(column.values[i]),
        stage,
    )
    return Column(values=reread.values, failures={**reread.failures, **column.failures})
