"""How long until assay does anything: `--help` beside a bare click program, and the imports of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Line, best
from bench.recorded import TASK

BARE = """
import click
@click.group()
def cli():
    "A bare program."
@cli.command()
@click.argument("file")
def run(file):
    "Run a file."
cli(["--help"])
"""


def measure() -> Iterator[Line]:
    """`assay --help` and the imports behind `assay run`."""
    bare = best(7, "-c", BARE)
    helped = best(7, "-m", "assay", "--help")
    yield Line(
        what="assay --help / a bare click program's --help (CPU)",
        ratio=helped.cpu_s / bare.cpu_s,
        budget=1.5,
        goal=1.2,
        detail=f"{helped.cpu_s * 1000:.0f} ms / {bare.cpu_s * 1000:.0f} ms",
    )
    nothing = best(5, "-c", "pass")
    imported = best(5, "-c", "from assay.cli.main import spare_threads; spare_threads(); import assay.api.run")
    yield Line(
        what="imports of assay run (CPU beyond a bare interpreter)",
        ratio=imported.cpu_s - nothing.cpu_s,
        budget=0.6,
        unit="s",
        detail=f"{imported.cpu_s:.2f} s - {nothing.cpu_s:.2f} s",
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / ".assay").mkdir()
        (folder / "task.yaml").write_text(TASK, encoding="utf-8")
        (folder / "data.jsonl").write_text('{"output": "yes", "answer": "yes"}\n' * 5, encoding="utf-8")
        tiny = best(5, "-m", "assay", "run", "task.yaml", "-q", "--fresh", folder=folder)
    yield Line(
        what="a recorded task of 5 samples, whole command (CPU)",
        ratio=tiny.cpu_s,
        budget=0.5,
        goal=0.3,
        unit="s",
        detail=f"{tiny.wall_s:.2f} s wall",
    )
