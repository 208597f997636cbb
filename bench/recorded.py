"""Recorded answers through string_equals, every sample and score stored, beside reading the lines alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Cost, Line, best, run

TASK = """
key: bench
display_name: bench
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
"""

LOADS = """
import sys, orjson
lines = open(sys.argv[1], "rb").read().splitlines()
import time
started = time.process_time()
for line in lines:
    orjson.loads(line)
print((time.process_time() - started) / len(lines))
"""


def measure(large: int = 1_000_000) -> Iterator[Line]:
    """CPU per sample, memory as samples grow, and the time to find that there is nothing to do."""
    with tempfile.TemporaryDirectory() as scratch:
        small_run, _ = _recorded(Path(scratch) / "small", large // 10)
        large_run, data = _recorded(Path(scratch) / "large", large)
        loads_s = min(float(run("-c", LOADS, str(data)).output) for _ in range(3))
        per_sample = (large_run.cpu_s - small_run.cpu_s) / (large - large // 10)
        yield Line(
            what=f"{large:,} recorded answers, string_equals, stored: CPU per sample / orjson.loads of its line",
            ratio=per_sample / loads_s,
            budget=18,
            goal=12,
            detail=f"{per_sample * 1e6:.2f} µs / {loads_s * 1e6:.2f} µs",
        )
        yield Line(
            what=f"peak memory of {large:,} / {large // 10:,} recorded answers",
            ratio=large_run.peak_mb / small_run.peak_mb,
            budget=1.1,
            goal=1.0,
            detail=f"{large_run.peak_mb:.0f} MB / {small_run.peak_mb:.0f} MB",
        )
        again = best(3, "-m", "assay", "run", "task.yaml", "-q", folder=Path(scratch) / "small")
        yield Line(
            what=f"a finished run of {large // 10:,} samples, run again until there is nothing to do (wall)",
            ratio=again.wall_s,
            budget=2.0,
            unit="s",
            detail="",
        )


def recorded_project(folder: Path, n: int) -> Path:
    """Write a task with so many recorded answers into a folder and return it."""
    folder.mkdir()
    (folder / ".assay").mkdir()
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    data = folder / "data.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for i in range(n):
            answer, output = "yes" if i % 3 else "no", "yes" if i % 5 else "no"
            question = f"Is statement number {i} of this long list of statements true?"
            out.write(
                f'{{"sample_id": "q-{i}", "question": "{question}", "answer": "{answer}", "output": "{output}"}}\n'
            )
    return folder


def _recorded(folder: Path, n: int) -> tuple[Cost, Path]:
    recorded_project(folder, n)
    return run("-m", "assay", "run", "task.yaml", "-q", folder=folder), folder / "data.jsonl"
