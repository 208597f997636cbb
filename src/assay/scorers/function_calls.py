"""`function_call_coverage`: the share of required function calls that a conversation made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import BeforeValidator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, STAGE, ReplyScorer, RowFailureError, replies, row_by_row
from assay.spec.fields import Template
from assay.templates import has_placeholder, is_constant, lists
from assay.types import Column, Rows, ScoreColumns

Call = tuple[str, Any]
ANY_ARGUMENTS: Any = object()
_WANTED = "expected a list of function names or {name, arguments}, or a template that gives one"


def templates_of(calls: Any) -> Any:
    """A template, or a list whose texts are templates; what is constant is checked at once."""
    if isinstance(calls, str) and _is_fixed(calls):
        try:
            calls = orjson.loads(str(calls))
        except orjson.JSONDecodeError:
            raise ValueError(_WANTED) from None
    if isinstance(calls, str):
        return Template(calls)
    if not isinstance(calls, list):
        raise ValueError(_WANTED)
    entries = [_as_template(entry) for entry in calls]
    if all(_is_fixed(entry) for entry in entries):
        try:
            required_calls(entries)
        except RowFailureError as error:
            raise ValueError(str(error)) from error
    return entries


def _as_template(entry: Any) -> Any:
    if isinstance(entry, str):
        return Template(entry)
    if isinstance(entry, list):
        return [_as_template(element) for element in entry]
    if isinstance(entry, dict):
        return {name: _as_template(value) for name, value in entry.items()}
    return entry


def _is_fixed(entry: Any) -> bool:
    if isinstance(entry, str):
        return is_constant(entry) and not has_placeholder(entry)
    inside = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ()
    return all(_is_fixed(element) for element in inside)


class FunctionCallCoverage(ReplyScorer):
    """The share of required function calls in the conversation; each call satisfies one entry."""

    type: Literal["function_call_coverage"]
    function_calls: Annotated[Any, BeforeValidator(templates_of)]
    mode: Literal["any_order", "in_order"] = "any_order"

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean of every value."""
        return [{"type": "mean", "field": field} for field in KIND.values or ()]


def function_call_coverage(settings: FunctionCallCoverage, rows: Rows) -> ScoreColumns:
    """The coverage of each conversation; a plain reply has called nothing."""
    answers = replies(settings, rows)
    calls_by_row: list[Sequence[Any]] = [()] * len(answers)
    if rows.traces is not None:
        calls_by_row = [trace.function_calls for trace in rows.traces]
    match = _matched_in_order if settings.mode == "in_order" else _matched_in_any_order

    def one(entries: list[Any], calls: Sequence[Any]) -> dict[str, Any]:
        required = required_calls(entries)
        matched = match(required, list(map(call_of, calls)))
        total = len(required)
        return {
            "all_required_calls_made": 1.0 if matched == total else 0.0,
            "required_calls_coverage": matched / total if total else 1.0,
            "num_required_calls_made": matched,
            "num_required_calls_not_made": total - matched,
            "num_unrequired_calls": len(calls) - matched,
            "num_required_calls_total": total,
        }

    entries = lists(settings.function_calls, rows, stage=STAGE)
    return row_by_row(KIND, one, [entries, Column(values=calls_by_row)])


def required_calls(entries: Sequence[Any]) -> list[Call]:
    """The entries as names with arguments.

    >>> required_calls([{"name": "f", "arguments": {"x": 1}}])
    [('f', {'x': 1})]
    """
    required: list[Call] = []
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, str) and entry:
            required.append((entry, ANY_ARGUMENTS))
        elif (
            isinstance(entry, Mapping) and isinstance(entry.get("name"), str) and not set(entry) - {"name", "arguments"}
        ):
            raw_arguments = entry.get("arguments")
            arguments = ANY_ARGUMENTS if raw_arguments is None else _arguments(raw_arguments)
            if arguments is not ANY_ARGUMENTS and not isinstance(arguments, Mapping):
                raise RowFailureError(f"the arguments of entry {number} are not a mapping")
            required.append((entry["name"], arguments))
        else:
            raise RowFailureError(f"entry {number} of function_calls is neither a name nor {{name, arguments}}")
    return required


def call_of(item: Mapping[str, Any]) -> Call:
    """A function call of a conversation as a name with its arguments."""
    return str(item.get("name")), _arguments(item.get("arguments"))


def _arguments(arguments: Any) -> Any:
    """The arguments of a call; JSON text is read, and what is no JSON equals no required arguments."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return orjson.loads(arguments) if arguments.strip() else {}
    except orjson.JSONDecodeError:
        return arguments


def call_fits(required: Call, call: Call) -> bool:
    """Return whether a call satisfies an entry; arguments matter only if the entry has some."""
    if required[0] != call[0]:
        return False
    return required[1] is ANY_ARGUMENTS or same_json(required[1], call[1])


def same_json(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 is 1.0, but not true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_json(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


def _matched_in_any_order(required: Sequence[Call], calls: Sequence[Call]) -> int:
    """One call for one entry; those with arguments choose first, for they can take fewer calls."""
    free = list(calls)
    for entry in sorted(required, key=lambda entry: entry[1] is ANY_ARGUMENTS):
        for place, call in enumerate(free):
            if call_fits(entry, call):
                del free[place]
                break
    return len(calls) - len(free)


def _matched_in_order(required: Sequence[Call], calls: Sequence[Call]) -> int:
    """Return the longest common subsequence of entries and calls."""
    best = [0] * (len(calls) + 1)
    for entry in required:
        before = 0
        for place, call in enumerate(calls, start=1):
            above = best[place]
            best[place] = before + 1 if call_fits(entry, call) else max(above, best[place - 1])
            before = above
    return best[-1]


KIND = BatchScorerKind(
    settings=FunctionCallCoverage,
    score=function_call_coverage,
    values=(
        "all_required_calls_made",
        "required_calls_coverage",
        "num_required_calls_made",
        "num_required_calls_not_made",
        "num_unrequired_calls",
        "num_required_calls_total",
    ),
    ranges={"all_required_calls_made": SHARE, "required_calls_coverage": SHARE},
)
