"""`pass_through_solver`: the replies are in the dataset already; no model is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from assay.registry import BatchSolverKind
from assay.solvers.conversation import UnreadableError, answer_of, answer_trace, as_text, as_trace, column_of
from assay.spec.fields import ColumnName, SolverSpec
from assay.types import Failure, Rows, Trace

_NOBODY = Trace(())


class PassThroughSolver(SolverSpec):
    """Recorded replies from a column: plain text, chat messages, or Open Responses items."""

    type: Literal["pass_through_solver"]
    trace_column: ColumnName


def pass_through(settings: PassThroughSolver, rows: Rows) -> tuple[Rows, dict[int, Failure]]:
    """Return the rows with their recorded answers, and the failures of rows without one, by position.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"reply": "B"}])
    >>> settings = PassThroughSolver(type="pass_through_solver", trace_column="reply")
    >>> pass_through(settings, rows)[0].answers
    ['B']
    """
    column = str(settings.trace_column)
    try:
        recorded = [sample[column] for sample in rows.samples]
    except KeyError:
        return _one_by_one(column, rows)
    if set(map(type, recorded)) - {str} or any(text[:1] in ("[", "{") for text in recorded):
        return _one_by_one(column, rows)
    return _answered(rows, recorded, None), {}


def _one_by_one(column: str, rows: Rows) -> tuple[Rows, dict[int, Failure]]:
    answers: list[str] = []
    traces: list[Trace | None] = []
    failures: dict[int, Failure] = {}
    for place, sample in enumerate(rows.samples):
        answer, trace = "", None
        try:
            value = column_of(column, sample)
            plain = as_text(value)
            if plain is None:
                trace = as_trace(value)
                answer = answer_of(trace)
            else:
                answer = plain
        except UnreadableError as unreadable:
            failures[place] = unreadable.as_failure()
        answers.append(answer)
        traces.append(trace)
    if not any(traces):
        return _answered(rows, answers, None), failures
    whole = [
        trace or (_NOBODY if place in failures else answer_trace(answers[place])) for place, trace in enumerate(traces)
    ]
    return _answered(rows, answers, whole), failures


def _answered(rows: Rows, answers: list[str], traces: list[Trace] | None) -> Rows:
    return replace(rows, answers=answers, traces=traces)


KIND = BatchSolverKind(settings=PassThroughSolver, solve=pass_through)
