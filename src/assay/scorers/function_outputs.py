"""`function_call_output_contains` and `function_call_output_not_contains`: patterns in a function's outputs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, ReplyScorer, RowFailureError, replies, row_by_row
from assay.scorers.ground_truth import present_texts
from assay.scorers.pattern import checked_pattern, compiled, matchable
from assay.spec.fields import Template
from assay.templates import has_placeholder, is_constant
from assay.types import Column, Rows, ScoreColumns, Trace, content_text


class FunctionOutputScorer(ReplyScorer):
    """A scorer of what one function returned in a conversation; all of its calls count."""

    function_name: str = Field(min_length=1)
    pattern: Template

    @field_validator("pattern")
    @classmethod
    def _can_run(cls, pattern: Template) -> Template:
        if not pattern:
            raise ValueError("the pattern is empty, and so found in every output")
        if is_constant(pattern) and not has_placeholder(pattern):
            checked_pattern(str(pattern))
        return pattern


class FunctionCallOutputContains(FunctionOutputScorer):
    """Whether any output of the function matches the pattern."""

    type: Literal["function_call_output_contains"]


class FunctionCallOutputNotContains(FunctionOutputScorer):
    """Whether no output of the function matches the pattern; a function that was not called has no outputs."""

    type: Literal["function_call_output_not_contains"]


def outputs_of(trace: Trace, function: str) -> list[str]:
    """Return the outputs of a function's calls, in order.

    >>> call = {"type": "function_call", "name": "f", "call_id": "1"}
    >>> outputs_of(Trace((call, {"type": "function_call_output", "call_id": "1", "output": "ok"})), "f")
    ['ok']
    """
    calls = {call.get("call_id") for call in trace.get_function_calls_by_name(function)} - {None}
    outputs = [item.get("output") for item in trace.function_outputs if item.get("call_id") in calls]
    return [output if isinstance(output, str) else content_text(output) for output in outputs]


def _scored(settings: FunctionOutputScorer, rows: Rows, kind: BatchScorerKind, *, expect_match: bool) -> ScoreColumns:
    replies(settings, rows)
    traces = rows.traces if rows.traces is not None else [Trace(())] * len(rows)
    outputs = [outputs_of(trace, settings.function_name) for trace in traces]

    def one(pattern: str, texts: list[str]) -> dict[str, Any]:
        try:
            search = compiled(pattern).search
        except ValueError as error:
            raise RowFailureError(str(error)) from error
        matching = [text for text in texts if search(matchable(text))]
        return {
            "is_correct": 1.0 if bool(matching) is expect_match else 0.0,
            "function_call_name": settings.function_name,
            "matching_outputs": matching,
            "num_outputs": len(texts),
        }

    patterns = present_texts(settings.pattern, rows, "pattern", allow_empty=False)
    return row_by_row(kind, one, [patterns, Column(values=outputs)])


def contains(settings: FunctionCallOutputContains, rows: Rows) -> ScoreColumns:
    """1.0 where an output matches."""
    return _scored(settings, rows, CONTAINS, expect_match=True)


def not_contains(settings: FunctionCallOutputNotContains, rows: Rows) -> ScoreColumns:
    """1.0 where no output matches."""
    return _scored(settings, rows, NOT_CONTAINS, expect_match=False)


_METADATA = ("function_call_name", "matching_outputs", "num_outputs")
CONTAINS = BatchScorerKind(
    settings=FunctionCallOutputContains,
    score=contains,
    values=("is_correct",),
    metadata=_METADATA,
    ranges={"is_correct": SHARE},
)
NOT_CONTAINS = BatchScorerKind(
    settings=FunctionCallOutputNotContains,
    score=not_contains,
    values=("is_correct",),
    metadata=_METADATA,
    ranges={"is_correct": SHARE},
)
