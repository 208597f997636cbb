"""Every command on stores of 10^4 to 10^6 samples: how its CPU grows, and how long it shows nothing on a terminal."""

from __future__ import annotations

import math
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measure import Line, run
from bench.recorded import TASK

SIZES = 10_000, 100_000, 1_000_000
MOST_SILENT_S = 2.0
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "a.yaml", "--fresh"),
    "run, nothing to do": ("run", "a.yaml"),
    "rescore": ("rescore", "a", "c.yaml"),
    "compare": ("compare", "a", "b"),
    "compare --json": ("compare", "a", "b", "--json"),
    "gate --baseline": ("gate", "b", "--baseline", "a", "--max-drop", "0.5"),
    "calibrate --suggest": ("calibrate", "a", "--suggest", "100", "--labels", "labels.csv", "--force"),
    "power": ("power", "a", "--effect", "0.01"),
    "export": ("export", "a", "--to", "a.jsonl", "--force"),
    "samples --wrong": ("samples", "a", "--wrong", "--json"),
    "samples --where": ("samples", "a", "--where", "is_correct < 1", "--json"),
    "samples --id": ("samples", "a", "--id", "q-77"),
    "show": ("show", "a"),
    "runs": ("runs",),
    "check": ("check", "a.yaml"),
}


def measure() -> Iterator[Line]:
    """Yield the slope of CPU over samples on logarithmic scales for each command, then its longest silence."""
    cpu_s: dict[str, list[float]] = {name: [] for name in COMMANDS}
    silent_s: dict[str, float] = {}
    for n in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            prepare(folder, n)
            for name, arguments in COMMANDS.items():
                cpu_s[name].append(run("-m", "assay", *arguments, folder=folder).cpu_s)
                if n == SIZES[-1]:
                    silent_s[name] = longest_silence(folder, *arguments)
    for name, costs in cpu_s.items():
        yield Line(
            what=f"{name}: log-log slope of CPU over samples, {SIZES[0]:,} to {SIZES[-1]:,}",
            ratio=slope(SIZES, costs),
            budget=1.1,
            unit="",
            detail=" / ".join(f"{cost:.2f} s" for cost in costs),
        )
    for name, longest_s in silent_s.items():
        yield Line(
            what=f"{name} of {SIZES[-1]:,} samples: longest silence on a terminal",
            ratio=longest_s,
            budget=MOST_SILENT_S,
            unit="s",
            detail="",
        )


def prepare(folder: Path, n: int) -> None:
    """Two stored runs of n recorded samples whose answers differ in a quarter of them."""
    (folder / ".assay").mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(TASK.replace("output", name), encoding="utf-8")
    contains = '  scorers: [{type: contains, substring: "yes"}]\n'
    rescored = TASK[: TASK.index("  scorers:")].replace("output", "a") + contains
    (folder / "c.yaml").write_text(rescored, encoding="utf-8")
    with (folder / "data.jsonl").open("w", encoding="utf-8") as out:
        for i in range(n):
            answer, a, b = ("yes" if i % k else "no" for k in (3, 5, 7))
            question = f"Is statement number {i} of this long list of statements true?"
            row = f'"sample_id": "q-{i}", "question": "{question}", "answer": "{answer}", "a": "{a}", "b": "{b}"'
            out.write(f"{{{row}}}\n")
    for name in ("a", "b"):
        run("-m", "assay", "run", f"{name}.yaml", "-q", "--name", name, folder=folder)


def slope(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The slope of the line of least squares through the logarithms of sizes and costs.

    >>> round(slope((10, 100, 1000), [1.0, 10.0, 100.0]), 6)
    1.0
    """
    x, y = [math.log10(size) for size in sizes], [math.log10(cost) for cost in costs]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((one - middle_x) * (other - middle_y) for one, other in zip(x, y, strict=True))
    return rise / sum((one - middle_x) ** 2 for one in x)


def longest_silence(folder: Path, *arguments: str) -> float:
    """Run a command on a terminal of its own and return the longest time in which nothing appeared there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        # what a command prints for programs would hide how long it takes to begin
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    longest_s, last = 0.0, time.perf_counter()
    try:
        while process.poll() is None:
            readable, _, _ = select.select([ours], [], [], 0.05)
            if readable:
                try:
                    os.read(ours, 65536)
                except OSError:
                    # Linux says so when the last process has closed the terminal
                    process.wait()
                moment = time.perf_counter()
                longest_s, last = max(longest_s, moment - last), moment
    finally:
        os.close(ours)
        process.wait()
    return max(longest_s, time.perf_counter() - last)
