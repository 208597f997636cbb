"""Scorers and metrics of your own: decorators turn a function into a kind that files can name.

Trusted code, unlike snippets in task files: it is installed or named by hand (`--plugin MODULE`) and runs in process.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints, overload

from pydantic import create_model

from assay.errors import SpecError
from assay.metrics.columns import FieldMetric, numbers
from assay.metrics.context import Context
from assay.metrics.sample_function import SampleFunction, number_in_range
from assay.metrics.table import Table
from assay.registry import BatchScorerKind, MetricKind
from assay.scorers.common import ReplyScorer, replies
from assay.spec import arguments
from assay.spec.fields import ScorerSpec, Template
from assay.stats.interval import no_interval
from assay.templates import texts
from assay.types import Column, Failure, MetricResult, MetricValue, Rows, ScoreColumns

Function = Callable[..., Any]
_PLAIN = (bool, int, float, list, dict)


_EXPECTED = {
    "function": arguments.FUNCTION,
    "name": arguments.TEXT,
    "range": arguments.BOUNDS,
    "fields": arguments.TEXTS,
    "per_sample": arguments.FLAG,
}


@overload
def scorer(function: Function) -> BatchScorerKind: ...


@overload
def scorer(
    *, name: str | None = None, range: tuple[float, float] | None = None, fields: tuple[str, ...] | None = None
) -> Callable[[Function], BatchScorerKind]: ...


@arguments.arguments_checked(_EXPECTED)
def scorer(
    function: Function | None = None,
    *,
    name: str | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 - the user's word for it
    fields: tuple[str, ...] | None = None,
) -> BatchScorerKind | Callable[[Function], BatchScorerKind]:
    """A scorer from a function of one sample; `type: <its name>` in a task file names it.

    A parameter `answer` is the model's reply, `sample` the row; any other text parameter is a template that the file
    gives, and one with a default that is no text is a plain setting. The function returns a number, or several by name;
    `range` says between which bounds they lie, `fields` names them when there are several. What it raises is a failure
    of that sample, and so is a number outside the range.

    >>> @scorer(range=(0, 1))
    ... def shouts(answer: str) -> float:
    ...     "Is the reply all capitals?"
    ...     return float(answer.isupper())
    >>> shouts.name, shouts.values
    ('shouts', ('shouts',))
    """

    def made(function_to_wrap: Function) -> BatchScorerKind:
        called = name or function_to_wrap.__name__
        names = fields or (called,)
        span = _span(called, range)
        provided = [parameter for parameter in _parameters(function_to_wrap) if parameter in ("answer", "sample")]
        base = _reply_scorer(names) if "answer" in provided else _scorer(names)
        settings = _settings(function_to_wrap, called, base, provided)
        return BatchScorerKind(
            settings=settings,
            score=lambda settings, rows: _scored(function_to_wrap, Expected(names, span), settings, rows),
            values=names,
            ranges={} if span is None else dict.fromkeys(names, span),
        )

    return made if function is None else made(function)


@overload
def metric(function: Function) -> MetricKind: ...


@overload
def metric(
    *, name: str | None = None, per_sample: bool = False, range: tuple[float, float] | None = None
) -> Callable[[Function], MetricKind]: ...


@arguments.arguments_checked(_EXPECTED)
def metric(
    function: Function | None = None,
    *,
    name: str | None = None,
    per_sample: bool = False,
    range: tuple[float, float] | None = None,  # noqa: A002 - the user's word for it
) -> MetricKind | Callable[[Function], MetricKind]:
    """A metric from a function of all values of a field; `type: <its name>` with `field` names it.

    The first parameter is the list of numbers; others need a default and are settings. The function returns a number,
    several by name, or None where it is undefined. Its values have no interval.

    With `per_sample` the first parameter is the value of one sample, a number, or text if it is annotated as `str`.
    The metric is the mean of what the function returns, with the interval of a mean, and runs can be compared by it
    sample by sample; `range` says between which bounds the returned numbers lie. A sample for which the function
    returns None, raises, or leaves the range is excluded and counted.

    >>> @metric
    ... def width(values: list[float]) -> float:
    ...     "The greatest value minus the least."
    ...     return max(values) - min(values)
    >>> width.name
    'width'
    >>> @metric(per_sample=True, range=(0, 1))
    ... def reaches(value: float, threshold: float = 0.5) -> float:
    ...     "The share of samples whose value reaches the threshold."
    ...     return float(value >= threshold)
    >>> reaches.per_sample is not None
    True
    """

    def made(function_to_wrap: Function) -> MetricKind:
        called = name or function_to_wrap.__name__
        first, *_ = [*_parameters(function_to_wrap), ""]
        if not first:
            raise SpecError(f"the metric {called} takes no values: its first parameter is the list of numbers")
        if not isinstance(per_sample, bool):
            raise SpecError(f"{called}: per_sample is True or False: the decorated function itself takes one value")
        if range is not None and not per_sample:
            raise SpecError(f"{called}: a range is for the numbers of single samples; add per_sample=True")
        settings = _settings(function_to_wrap, called, FieldMetric, [first])
        if per_sample:
            one = SampleFunction(
                function_to_wrap, text=get_type_hints(function_to_wrap).get(first) is str, bounds=_span(called, range)
            )
            return MetricKind(settings=settings, compute=one.mean, per_sample=one.per_sample)
        return MetricKind(
            settings=settings,
            compute=lambda settings, table, context: _measured(function_to_wrap, settings, table, context),
        )

    return made if function is None else made(function)


def _parameters(function: Function) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def _settings(function: Function, called: str, base: type[Any], provided: list[str]) -> type[Any]:
    """Build the settings class of a kind from the parameters of its function."""
    hints = get_type_hints(function)
    settings_fields: dict[str, Any] = {"type": (Literal[called], ...)}
    for name, parameter in _parameters(function).items():
        if name in provided:
            continue
        if name in base.model_fields:
            raise SpecError(f'{called}: a parameter cannot be called "{name}": every {_sort(base)} has such a field')
        has_default = parameter.default is not inspect.Parameter.empty
        kind = hints.get(name, type(parameter.default) if has_default else str)
        if kind in _PLAIN or getattr(kind, "__origin__", None) in _PLAIN or issubclass(base, FieldMetric):
            settings_fields[name] = (kind, parameter.default if has_default else ...)
        else:
            settings_fields[name] = (Template, Template(parameter.default) if has_default else ...)
    model: type[Any] = create_model(called.title().replace("_", ""), __base__=base, **settings_fields)
    model.__doc__ = inspect.getdoc(function) or f"A {_sort(base)} of your own."
    return model


def _sort(base: type[Any]) -> str:
    return "metric" if issubclass(base, FieldMetric) else "scorer"


def _means(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{"type": "mean", "field": field_name, "name": field_name} for field_name in names]


def _reply_scorer(names: tuple[str, ...]) -> type[ScorerSpec]:
    class OfReply(ReplyScorer):
        """A scorer that looks at the reply; its default is the mean of every value."""

        def default_metrics(self) -> list[dict[str, Any]]:
            return _means(names)

    return OfReply


def _scorer(names: tuple[str, ...]) -> type[ScorerSpec]:
    class OfSample(ScorerSpec):
        """A scorer that looks at the sample; its default is the mean of every value."""

        def default_metrics(self) -> list[dict[str, Any]]:
            return _means(names)

    return OfSample


@dataclass(frozen=True, slots=True)
class Expected:
    """The declaration of a scorer's fields: the names of its values and their bounds."""

    names: tuple[str, ...]
    span: tuple[float, float] | None


def _span(called: str, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    if bounds is None:
        return None
    low, high = map(float, bounds)
    if not low < high:
        raise SpecError(f"{called}: a range goes from the least value to the greatest, and {bounds} does not")
    return low, high


def _scored(function: Function, expected: Expected, settings: Any, rows: Rows) -> ScoreColumns:
    """Score row by row; whatever the function raises is a failure of its row."""
    columns = dict(_columns(function, settings, rows))
    failures = {place: failure for column in columns.values() for place, failure in column.failures.items()}
    values: dict[str, list[Any]] = {field_name: [None] * len(rows) for field_name in expected.names}
    for place in range(len(rows)):
        if place in failures:
            continue
        try:
            scores = _by_name(function(**{name: column.values[place] for name, column in columns.items()}), expected)
        # the boundary to foreign code: whatever goes wrong in it belongs to this row
        except Exception as error:
            failures[place] = Failure(stage="score", kind="code", detail=f"{type(error).__name__}: {error}")
            continue
        for field_name, value in scores.items():
            values[field_name][place] = value
    return ScoreColumns(values=values, failures=dict(sorted(failures.items())))


def _columns(function: Function, settings: Any, rows: Rows) -> Iterator[tuple[str, Column]]:
    for name in _parameters(function):
        if name == "answer":
            yield name, Column(values=replies(settings, rows))
        elif name == "sample":
            yield name, Column(values=list(rows.samples))
        else:
            value = getattr(settings, name)
            yield name, texts(value, rows) if isinstance(value, Template) else Column(values=[value] * len(rows))


def _by_name(result: Any, expected: Expected) -> dict[str, float | str]:
    names = expected.names
    by_name = result if isinstance(result, Mapping) else {names[0]: result}
    values: dict[str, float | str] = {}
    for name, value in by_name.items():
        if name not in names:
            raise ValueError(f'gave a value "{name}", but only {", ".join(names)} are declared')
        if value is None:
            continue
        values[name] = value if isinstance(value, str) else number_in_range(name, value, expected.span)
    return values


def _measured(function: Function, settings: Any, table: Table, context: Context) -> MetricResult:
    field_numbers = numbers(table, settings.field)
    counts = field_numbers.counts
    column = field_numbers.columns[0] if counts is None else field_numbers.columns[0].repeat(counts)
    first, *others = _parameters(function)
    n = len(column)
    if not n:
        nothing = MetricValue(value=None, n=0, reason="no sample has a value")
        return MetricResult(values={settings.value_name(settings.type): nothing}, n_excluded=field_numbers.n_excluded)
    try:
        result = function(**{first: column.tolist()}, **{name: getattr(settings, name) for name in others})
    # the boundary to foreign code: a metric that fails is undefined, with the reason
    except Exception as error:
        result, reason = None, f"{type(error).__name__}: {error}"
    else:
        reason = "the function returned None"
    by_name = result if isinstance(result, Mapping) else {settings.value_name(settings.type): result}
    interval = no_interval("no interval for a metric of your own", level=context.level)
    return MetricResult(
        values={
            name: MetricValue(value=None, n=n, reason=reason)
            if value is None or not math.isfinite(value)
            else MetricValue(value=float(value), n=n, interval=interval)
            for name, value in by_name.items()
        },
        n_excluded=field_numbers.n_excluded,
    )
