"""`python_all_samples`: a function of the user's scores all samples of a run together, in the sandbox."""

from __future__ import annotations

from typing import Any, Literal

from assay.registry import InSandbox, WholeRunScorerKind
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Result, Returned
from assay.scorers.snippet import PRINTED, arguments, scored
from assay.spec.code import AllScoresCode
from assay.spec.fields import ScorerSpec
from assay.spec.messages import described
from assay.types import Rows, ScoreColumns


class PythonAllSamplesScorer(ScorerSpec):
    """A Python function of yours scores all samples together, once they are all answered; it runs in a sandbox."""

    type: Literal["python_all_samples"]
    compute_scores_snippet: AllScoresCode
    metrics: list[Any]


def snippet_all(settings: PythonAllSamplesScorer, rows: Rows, *, sandbox: Sandbox) -> ScoreColumns:
    """One score a row, in the same order; where the function fails, all rows do."""
    if not len(rows):
        return ScoreColumns(values={})
    code = settings.compute_scores_snippet
    result = sandbox.call(Program.of(code, "samples"), arguments(rows, outputs=True))
    columns = scored(_entries(result, len(rows), code.function), code)
    if isinstance(result, Returned) and result.printed:
        columns.metadata[PRINTED] = [
            None if place in columns.failures else result.printed for place in range(len(rows))
        ]
    return columns


def _entries(result: Result, n: int, function: str) -> list[Result]:
    """The result of every row."""
    if isinstance(result, CallFailed):
        return [result] * n
    if not isinstance(result.value, list):
        wrong = f"{function} returned {described(result.value)}, not a list with one entry per sample"
    elif len(result.value) != n:
        wrong = f"{function} returned {len(result.value):,} entries for {n:,} samples"
    else:
        return [Returned(entry) for entry in result.value]
    return [CallFailed(wrong)] * n


KIND = WholeRunScorerKind(settings=PythonAllSamplesScorer, score=InSandbox(snippet_all))
