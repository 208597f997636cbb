"""Measuring whole commands: CPU, wall time and peak memory of a process and its children."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one command cost."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the report: a ratio beside its budget and goal, and the two figures it is made of."""

    what: str
    ratio: float
    budget: float | None
    detail: str
    unit: str = "x"
    goal: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the measured value is over its budget."""
        return self.budget is not None and self.ratio > self.budget


def run(*arguments: str, folder: Path | None = None, **environment: str) -> Cost:
    """Run a Python command to its end and measure it."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - started
    assert process.stderr is not None
    complaint = process.stderr.read().decode()
    if process.returncode != 0:
        raise RuntimeError(f"{arguments} ended with {process.returncode}: {complaint}")
    process.stdout.close()
    process.stderr.close()
    return Cost(
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=wall_s,
        peak_mb=usage.ru_maxrss / 1024,
        output=output,
    )


def best(times: int, *arguments: str, folder: Path | None = None, **environment: str) -> Cost:
    """The cheapest of several runs: what the machine's other work cannot make smaller."""
    return min((run(*arguments, folder=folder, **environment) for _ in range(times)), key=lambda cost: cost.cpu_s)
