"""`assay compare` and `assay gate --baseline` on two runs of a million samples each: CPU and memory of the command."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Line, run
from bench.recorded import TASK

COMMANDS = {
    "compare": ("compare", "a", "b", "--json"),
    "gate --baseline": ("gate", "b", "--baseline", "a", "--max-drop", "0.5"),
}


def measure(n: int = 1_000_000) -> Iterator[Line]:
    """Two runs whose answers differ in a quarter of the samples."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / ".assay").mkdir()
        for name in ("a", "b"):
            (folder / f"{name}.yaml").write_text(TASK.replace("output", name), encoding="utf-8")
        with (folder / "data.jsonl").open("w", encoding="utf-8") as out:
            for i in range(n):
                answer, a, b = ("yes" if i % k else "no" for k in (3, 5, 7))
                question = f"Is statement number {i} of this long list of statements true?"
                row = f'"sample_id": "q-{i}", "question": "{question}", "answer": "{answer}", "a": "{a}", "b": "{b}"'
                out.write(f"{{{row}}}\n")
        for name in ("a", "b"):
            run("-m", "assay", "run", f"{name}.yaml", "-q", "--name", name, folder=folder)
        for name, arguments in COMMANDS.items():
            cost = run("-m", "assay", *arguments, folder=folder)
            yield Line(
                what=f"{name} of 2 x {n:,} samples, CPU",
                ratio=cost.cpu_s,
                budget=10,
                goal=4,
                unit="s",
                detail=f"{cost.wall_s:.1f} s wall",
            )
            yield Line(
                what=f"{name} of 2 x {n:,} samples, memory", ratio=cost.peak_mb, budget=300, unit="MB", detail=""
            )
