"""`disallowed_function_calls`: whether a conversation calls functions that it must not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, STAGE, ReplyScorer, replies, row_by_row
from assay.scorers.function_calls import call_fits, call_of, required_calls, templates_of
from assay.templates import lists
from assay.types import Column, Rows, ScoreColumns


class DisallowedFunctionCalls(ReplyScorer):
    """Whether none of the named functions is called; an entry with arguments forbids only calls with those."""

    type: Literal["disallowed_function_calls"]
    function_calls: Annotated[Any, BeforeValidator(templates_of)]

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean of both values."""
        return [{"type": "mean", "field": field} for field in KIND.values or ()]


def disallowed_function_calls(settings: DisallowedFunctionCalls, rows: Rows) -> ScoreColumns:
    """1.0 for conversations without such a call; a plain reply has called nothing."""
    calls_by_row: list[Sequence[Any]] = [()] * len(replies(settings, rows))
    if rows.traces is not None:
        calls_by_row = [trace.function_calls for trace in rows.traces]

    def one(entries: list[Any], calls: Sequence[Any]) -> dict[str, Any]:
        forbidden = required_calls(entries)
        wrong = [call for call in map(call_of, calls) if any(call_fits(entry, call) for entry in forbidden)]
        return {
            "no_disallowed_calls_made": 0.0 if wrong else 1.0,
            "num_disallowed_calls_made": len(wrong),
            "disallowed_function_call_names": [name for name, _ in forbidden],
            "disallowed_calls": [{"name": name, "arguments": arguments} for name, arguments in wrong],
        }

    return row_by_row(KIND, one, [lists(settings.function_calls, rows, stage=STAGE), Column(values=calls_by_row)])


KIND = BatchScorerKind(
    settings=DisallowedFunctionCalls,
    score=disallowed_function_calls,
    values=("no_disallowed_calls_made", "num_disallowed_calls_made"),
    metadata=("disallowed_function_call_names", "disallowed_calls"),
    ranges={"no_disallowed_calls_made": SHARE},
)
