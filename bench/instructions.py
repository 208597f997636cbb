"""Instructions per model call and per recorded row, counted by callgrind: other work on the machine changes nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.live import TASK, server
from bench.measure import Line

SIZES = 200, 1_000
RECORDED = """
key: bench
display_name: bench
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: reply}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
"""


def measure() -> Iterator[Line]:
    """The slope between two sizes: what a further call or row costs, without the start of the process."""
    if shutil.which("valgrind") is None:
        return
    with tempfile.TemporaryDirectory() as scratch, server("--body", "mcq") as url:
        counts = [_count(_project(Path(scratch), "live", TASK, n), url) for n in SIZES]
    yield _line("instructions per model call of a whole assay run", counts, SIZES)
    sizes = SIZES[0] * 50, SIZES[1] * 50
    with tempfile.TemporaryDirectory() as scratch:
        counts = [_count(_project(Path(scratch), "recorded", RECORDED, n), None) for n in sizes]
    yield _line("instructions per recorded row of a whole assay run", counts, sizes)


def _line(what: str, counts: list[int], sizes: tuple[int, int]) -> Line:
    per_unit = (counts[1] - counts[0]) / (sizes[1] - sizes[0])
    detail = f"{counts[0] / 1e9:.2f} G for {sizes[0]:,}, {counts[1] / 1e9:.2f} G for {sizes[1]:,}"
    return Line(what=what, ratio=per_unit / 1e3, budget=None, detail=detail, unit="k")


def _project(folder: Path, name: str, task: str, n: int) -> Path:
    project = folder / f"{name}{n}"
    (project / ".assay").mkdir(parents=True)
    (project / "task.yaml").write_text(task, encoding="utf-8")
    with (project / "data.jsonl").open("w", encoding="utf-8") as out:
        for i in range(n):
            letter = "ABCD"[i % 4]
            out.write(f'{{"question": "Question number {i}?", "reply": "{letter}", "answer": "{letter}"}}\n')
    return project


def _count(project: Path, url: str | None) -> int:
    command = [sys.executable, "-m", "assay", "run", "task.yaml", "-q", "--fresh"]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    if url is not None:
        command += ["--model", "openai/stub", "--max-concurrency", "10"]
        environment |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "x"}
    # once without counting: modules are compiled when they are first imported
    subprocess.run([*command, "--limit", "5"], cwd=project, env=environment, capture_output=True, check=True)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    assert collected is not None, done.stderr
    return int(collected[1])
