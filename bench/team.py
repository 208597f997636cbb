"""A team's store and a cluster: PostgreSQL beside SQLite, and calls per second with one process and with Ray actors."""

from __future__ import annotations

import json
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.live import WIDTH, _project, server
from bench.measure import Line, run
from bench.recorded import recorded_project

ROWS, CALLS, REPETITIONS = 100_000, 10_000, 3


def measure() -> Iterator[Line]:
    """The time to import 100,000 answers into PostgreSQL, and the throughput of a run on Ray."""
    yield _import()
    yield from _throughput()


def _import() -> Line:
    # the server of the tests; nothing else of them is used
    sys.path.insert(0, str(Path(__file__).parents[1]))
    cluster = import_module("tests.postgres").Cluster()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            project = recorded_project(Path(scratch) / "p", ROWS)
            sqlite_s, postgres_s = [], []
            for repetition in range(REPETITIONS):
                # in turns: what else the machine does then burdens both sides alike
                sqlite_s.append(_import_s(project, f"s{repetition}.db"))
                postgres_s.append(_import_s(project, f"{cluster.url()}&project=bench_{repetition}"))
            return Line(
                what=f"import of {ROWS:,} recorded answers: PostgreSQL / SQLite (wall)",
                ratio=min(postgres_s) / min(sqlite_s),
                budget=2,
                detail=f"{min(postgres_s):.2f} s / {min(sqlite_s):.2f} s",
            )
    finally:
        cluster.stop()


def _import_s(project: Path, store: str) -> float:
    return run("-m", "assay", "run", "task.yaml", "-q", folder=project, ASSAY_STORE=store).wall_s


def _throughput() -> Iterator[Line]:
    """Calls per second as the server saw them, from the first request to the last: without the start of Ray."""
    for what, options in (("one process", []), ("Ray, 2 actors", ["--executor", "ray", "--actors", "2"])):
        with tempfile.TemporaryDirectory() as scratch, server("--body", "mcq", "--latency-ms", "5") as url:
            project = _project(Path(scratch), CALLS)
            arguments = ["run", "task.yaml", "-q", "--model", "openai/stub", "--max-concurrency", str(WIDTH), *options]
            run("-m", "assay", *arguments, folder=project, OPENAI_BASE_URL=url, OPENAI_API_KEY="x")
            with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats", timeout=30) as answer:
                stats: dict[str, Any] = json.load(answer)
            yield Line(
                what=f"calls per second at 5 ms latency, {what}",
                ratio=stats["rps_window"],
                budget=None,
                unit="/s",
                detail=f"{stats['arrived']:,} calls in {stats['window_s']:.1f} s",
            )
