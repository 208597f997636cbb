"""A one-line Python scorer in the sandbox, beside the same function called in-process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from assay.sandbox.pool import Sandbox
from assay.scorers.snippet import PythonScorer, snippet
from assay.spec.code import ScoreCode
from assay.types import Rows
from bench.measure import Line

CODE = """
def compute_scores(sample, solver_output):
    return {"is_correct": 1.0 if sample["answer"] == solver_output.output else 0.0}
"""
BATCH = 5_000


class _Output:
    def __init__(self, output: str) -> None:
        self.output = output


def measure(rows: int = 100_000) -> Iterator[Line]:
    """Yield the time per row over the pipe and back, shared and in a process of its own, and the time of a start."""
    batches = [_rows(start) for start in range(0, rows, BATCH)]
    settings = PythonScorer(type="python", compute_scores_snippet=ScoreCode(CODE), metrics=[])
    inside = min(_in_process(batches) for _ in range(3)) / rows
    with Sandbox() as sandbox:
        started = time.perf_counter()
        snippet(settings, _rows(0, 1), sandbox=sandbox)
        start_s = time.perf_counter() - started
        crossing = min(_sandboxed(settings, batches, sandbox) for _ in range(3)) / rows
    detail = f"{crossing * 1e6:.1f} µs / {inside * 1e6:.2f} µs"
    yield Line(
        what=f"{rows:,} rows through a one-line Python scorer: overhead a row in the sandbox (wall)",
        ratio=(crossing - inside) * 1e6,
        budget=50,
        unit="µs",
        detail=detail,
    )
    yield Line(
        what="the same: a row in the sandbox / the function called in-process",
        ratio=crossing / inside,
        budget=None,
        detail=detail,
    )
    few = _rows(0, 500)
    apart = settings.model_copy(update={"isolation": "process"})
    with Sandbox() as sandbox:
        snippet(apart, _rows(0, 1), sandbox=sandbox)
        alone = min(_sandboxed(apart, [few], sandbox) for _ in range(5)) / len(few)
    yield Line(
        what="a row with isolation: batch, in a worker that all rows share (wall)",
        ratio=crossing * 1e6,
        budget=50,
        unit="µs",
        detail=f"{rows:,} rows",
    )
    yield Line(
        what="a row with isolation: process, in a process of its own (wall)",
        ratio=alone * 1e6,
        budget=2_000,
        unit="µs",
        detail=f"{len(few):,} rows",
    )
    yield Line(
        what="the first row: a process is started and confined, and the code loaded (wall)",
        ratio=start_s * 1e3,
        budget=300,
        unit="ms",
        detail="",
    )


def _rows(start: int, n: int = BATCH) -> Rows:
    numbers = range(start, start + n)
    return Rows(
        positions=numbers,
        ids=[str(i) for i in numbers],
        samples=[
            {"question": f"Is statement number {i} of this long list true?", "answer": "yes" if i % 3 else "no"}
            for i in numbers
        ],
        answers=["yes" if i % 5 else "no" for i in numbers],
    )


def _in_process(batches: list[Rows]) -> float:
    names: dict[str, Any] = {}
    exec(CODE, names)
    function = names["compute_scores"]
    started = time.perf_counter()
    for rows in batches:
        assert rows.answers is not None
        for sample, answer in zip(rows.samples, rows.answers, strict=True):
            function(sample, _Output(answer))
    return time.perf_counter() - started


def _sandboxed(settings: PythonScorer, batches: list[Rows], sandbox: Sandbox) -> float:
    started = time.perf_counter()
    for rows in batches:
        assert not snippet(settings, rows, sandbox=sandbox).failures
    return time.perf_counter() - started
