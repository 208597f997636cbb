"""Post-processors: a function of the user's makes the rows that are scored of a sample and its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Result
from assay.solvers.asking import STAGE
from assay.solvers.conversation import UnreadableError, answer_trace, as_trace
from assay.spec.fields import Postprocessor
from assay.spec.isolation import isolation_of
from assay.spec.messages import described
from assay.types import MAX_FANOUT, Failure, Fanned, Rows


def postprocess(settings: Postprocessor, rows: Rows, *, sandbox: Sandbox) -> list[Sequence[Fanned] | Failure]:
    """Return the rows produced from each answered row, in order; a row on which the function fails is a failure."""
    n = len(rows)
    answers: Sequence[Any] = [None] * n if rows.answers is None else rows.answers
    traces: Sequence[Any] = [None] * n if rows.traces is None else [trace.items for trace in rows.traces]
    arguments = [list(row) for row in zip(rows.samples, rows.ids, answers, traces, strict=True)]
    code = settings.postprocess_snippet
    program = Program.of(code, "sample", isolation=isolation_of(code, settings.isolation))
    results = sandbox.map(program, arguments)
    return [_fanned(result) for result in results]


def _fanned(result: Result) -> Sequence[Fanned] | Failure:
    if isinstance(result, CallFailed):
        return Failure(stage=STAGE, kind="code", detail=result.detail)
    try:
        return _rows(result.value)
    except UnreadableError as error:
        return Failure(stage=STAGE, kind="code", detail=str(error))


def _rows(value: Any) -> list[Fanned]:
    if not isinstance(value, list):
        raise UnreadableError("code", f"postprocess returned {described(value)}, not a list of (sample, solver_output)")
    if not value:
        raise UnreadableError("code", "postprocess returned no rows")
    if len(value) > MAX_FANOUT:
        raise UnreadableError("code", f"postprocess returned {len(value):,} rows; {MAX_FANOUT:,} are allowed")
    return [_row(number, pair) for number, pair in enumerate(value)]


def _row(number: int, pair: Any) -> Fanned:
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], dict):
        raise UnreadableError("code", f"row {number} of postprocess is {described(pair)}, not (sample, solver_output)")
    sample, output = pair
    try:
        orjson.dumps(sample)
    except TypeError as error:
        raise UnreadableError("code", f"row {number} of postprocess cannot be stored: {error}") from None
    if isinstance(output, str):
        return Fanned(sample=sample, answer=output, trace=answer_trace(output))
    if not isinstance(output, dict) or not isinstance(output.get("output"), str):
        wrong = f"the solver_output of row {number} of postprocess is {described(output)}, not a SolverOutput"
        raise UnreadableError("code", wrong)
    items = output.get("trace")
    return Fanned(
        sample=sample, answer=output["output"], trace=as_trace(items) if items else answer_trace(output["output"])
    )
