"""`python`: a function of the user's scores each sample, in the sandbox."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson

from assay.registry import BatchScorerKind, InSandbox
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Result
from assay.scorers.common import RowFailureError
from assay.spec.code import Code, ScoreCode
from assay.spec.fields import ScorerSpec
from assay.spec.isolation import Isolation, isolation_of
from assay.spec.messages import described
from assay.types import Failure, Rows, ScoreColumns

PRINTED = "printed"
Fields = Mapping[str, Any]


class PythonScorer(ScorerSpec):
    """A Python function of yours scores each sample; it runs in a sandbox, and only with --allow-code."""

    type: Literal["python"]
    compute_scores_snippet: ScoreCode
    isolation: Isolation | None = None
    metrics: list[Any]


def snippet(settings: PythonScorer, rows: Rows, *, sandbox: Sandbox) -> ScoreColumns:
    """Run the function on each row; a row on which it fails, crashes or hangs fails alone.

    >>> code = "def compute_scores(sample): return {'length': len(sample['text'])}"
    >>> settings = PythonScorer(type="python", compute_scores_snippet=ScoreCode(code), metrics=[])
    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"text": "four"}])
    >>> with Sandbox() as sandbox:
    ...     snippet(settings, rows, sandbox=sandbox).values
    {'length': [4]}
    """
    code = settings.compute_scores_snippet
    inputs = arguments(rows, outputs=code.takes(2))
    program = Program.of(code, "sample", isolation=isolation_of(code, settings.isolation))
    return scored(sandbox.map(program, inputs), code)


def arguments(rows: Rows, *, outputs: bool) -> list[list[Any]]:
    """Build the function's arguments for each row: the sample, its id, and the answer with its trace if taken."""
    n = len(rows)
    nothing: Sequence[Any] = [None] * n
    answers = rows.answers if outputs and rows.answers is not None else nothing
    traces = [trace.items for trace in rows.traces] if outputs and rows.traces is not None else nothing
    return [list(row) for row in zip(rows.samples, rows.ids, answers, traces, strict=True)]


def scored(results: Sequence[Result], code: Code) -> ScoreColumns:
    """The results of a batch as columns; what is no score is a failure of its row."""
    scores: list[tuple[Fields, Fields] | None] = []
    failures: dict[int, Failure] = {}
    for place, result in enumerate(results):
        try:
            scores.append(read_score(result, code.function))
        except RowFailureError as error:
            failures[place] = error.failure
            scores.append(None)
    values = dict.fromkeys(name for score in scores if score for name in score[0])
    metadata = dict.fromkeys(name for score in scores if score for name in score[1])
    return ScoreColumns(
        values={name: [score and score[0].get(name) for score in scores] for name in values},
        metadata={name: [score and score[1].get(name) for score in scores] for name in metadata},
        failures=failures,
    )


def read_score(result: Result, function: str) -> tuple[Fields, Fields]:
    """Read the values and metadata that a call returned; a RowFailureError explains what is wrong."""
    if isinstance(result, CallFailed):
        raise RowFailureError(result.detail, "code")
    values, metadata = _parts(result.value, function)
    if not values:
        raise RowFailureError(f"{function} returned no value", "code")
    for name, value in values.items():
        if not _fits(value):
            raise RowFailureError(f'{function} returned {described(value)} for "{name}"; {_WANTED}', "code")
    try:
        orjson.dumps([values, metadata], option=orjson.OPT_PASSTHROUGH_SUBCLASS)
    except TypeError as error:
        if "64-bit" not in str(error):
            raise RowFailureError(f"{function} returned a value that cannot be stored: {error}", "code") from None
    return values, {PRINTED: result.printed, **metadata} if result.printed else metadata


_WANTED = "a value is a finite number, text, true or false, and a field without one is left out"


def _parts(value: Any, function: str) -> tuple[Fields, Fields]:
    """A flat mapping of values, or one with `scores` and `metadata`."""
    if not isinstance(value, dict):
        raise RowFailureError(f"{function} returned {described(value)}, not a mapping of values", "code")
    if "scores" not in value or not set(value) <= {"scores", "metadata"}:
        return value, {}
    values, metadata = value["scores"], value.get("metadata") or {}
    for name, part in (("scores", values), ("metadata", metadata)):
        if not isinstance(part, dict):
            raise RowFailureError(f'{function} returned {described(part)} for "{name}", not a mapping', "code")
    return values, metadata


def _fits(value: Any) -> bool:
    return isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value))


KIND = BatchScorerKind(settings=PythonScorer, score=InSandbox(snippet))
