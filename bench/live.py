"""Asking a model: the whole of `assay run` beside a raw aiohttp loop, on a loopback server."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.measure import Cost, Line, run

SERVER = Path(__file__).parent.parent / "tests" / "loopback" / "server.py"
TASK = """
key: bench
display_name: bench
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages:
        - {role: system, content: "Answer with the letter of the right choice."}
        - {role: user, content: "{{ sample.question }}"}
    sampling: {temperature: 0, max_tokens: 10}
  scorers: [{type: string_equals_mcqa, ground_truth_choice: "{{ sample.answer }}", choices: [A, B, C, D]}]
"""

RAW = """
import asyncio, sys, aiohttp, orjson, uvloop

async def main(url, path, width):
    lines = iter(open(path, "rb"))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=width)) as session:
        async def work():
            for line in lines:
                row = orjson.loads(line)
                system = {"role": "system", "content": "Answer with the letter of the right choice."}
                user = {"role": "user", "content": row["question"]}
                body = {"model": "stub", "messages": [system, user], "temperature": 0, "max_tokens": 10}
                headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}
                async with session.post(url, data=orjson.dumps(body), headers=headers) as response:
                    orjson.loads(await response.read())["choices"][0]["message"]["content"]
        await asyncio.gather(*(work() for _ in range(width)))

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""
SMALL, LARGE, MANY, WIDTH, REPETITIONS = 2_000, 20_000, 60_000, 100, 3


def measure() -> Iterator[Line]:
    """CPU per call, wall time at 50 ms latency, and growth in time and memory."""
    with tempfile.TemporaryDirectory() as scratch, server("--body", "mcq") as url:
        folder = Path(scratch)
        raw_ms, our_ms, ours, raw = [], [], {}, {}
        for repetition in range(REPETITIONS):
            # in turns: what else the machine does then burdens both sides alike
            part = folder / str(repetition)
            raw = {n: _raw(url, _project(part, n)) for n in (SMALL, LARGE)}
            ours = {n: _ours(url, _project(part, n)) for n in (SMALL, LARGE)}
            raw_ms.append((raw[LARGE].cpu_s - raw[SMALL].cpu_s) / (LARGE - SMALL) * 1000)
            our_ms.append((ours[LARGE].cpu_s - ours[SMALL].cpu_s) / (LARGE - SMALL) * 1000)
        yield Line(
            what="CPU per model call, whole assay run / raw aiohttp loop (slope from 2,000 to 20,000 samples, medians)",
            ratio=median(our_ms) / median(raw_ms),
            budget=2,
            goal=1.5,
            detail=f"{median(our_ms):.3f} ms / {median(raw_ms):.3f} ms",
        )
        yield Line(
            what="20,000 / 2,000 samples: time",
            ratio=ours[LARGE].wall_s / ours[SMALL].wall_s,
            budget=10.5,
            detail=f"{ours[LARGE].wall_s:.1f} s / {ours[SMALL].wall_s:.1f} s",
        )
        many = _ours(url, _project(folder, MANY))
        yield Line(
            what="60,000 / 2,000 samples: peak memory",
            ratio=many.peak_mb / ours[SMALL].peak_mb,
            budget=1.1,
            goal=1.0,
            detail=f"{many.peak_mb:.0f} MB / {ours[SMALL].peak_mb:.0f} MB",
        )
        ceiling = LARGE / raw[LARGE].wall_s
        yield Line(
            what="the loopback server's ceiling, seen by the raw loop", ratio=ceiling, budget=None, unit="/s", detail=""
        )
    yield from _latency()


def _latency() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as scratch, server("--body", "mcq", "--latency-ms", "50") as url:
        project = _project(Path(scratch), SMALL)
        _ours(url, project)
        window_s = _window(project / ".assay" / "assay.db")
        ideal_s = SMALL * 0.050 / WIDTH
        yield Line(
            what="wall time, first request to last commit, 50 ms latency, 100 in flight / ideal",
            ratio=window_s / ideal_s,
            budget=1.2,
            goal=1.05,
            detail=f"{window_s:.2f} s / {ideal_s:.2f} s",
        )


def _window(path: Path) -> float:
    """From the start of the run to its last commit, as the store saw it."""
    import sqlite3
    from datetime import datetime

    connection = sqlite3.connect(path)
    try:
        started, ended = connection.execute("SELECT started_at, finished_at FROM runs").fetchone()
    finally:
        connection.close()
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()


def _project(folder: Path, n: int) -> Path:
    project = folder / f"p{n}"
    if project.exists():
        return project
    (project / ".assay").mkdir(parents=True)
    (project / "task.yaml").write_text(TASK, encoding="utf-8")
    with (project / "data.jsonl").open("w", encoding="utf-8") as out:
        for i in range(n):
            question = f"Question number {i}: which of these is right? A) one B) two C) three D) four"
            out.write(f'{{"question": "{question}", "answer": "{"ABCD"[i % 4]}"}}\n')
    return project


def _raw(url: str, project: Path) -> Cost:
    return run("-c", RAW, f"{url}/chat/completions", str(project / "data.jsonl"), str(WIDTH))


def _ours(url: str, project: Path) -> Cost:
    arguments = ("-m", "assay", "run", "task.yaml", "-q", "--model", "openai/stub", "--max-concurrency", str(WIDTH))
    return run(*arguments, folder=project, OPENAI_BASE_URL=url, OPENAI_API_KEY="x")


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """A loopback server in a process of its own; gives its address."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--port", "0", *arguments], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    try:
        yield next(word for word in process.stdout.readline().split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait()
        time.sleep(0.1)
