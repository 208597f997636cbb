"""The viewer on a run of a million recorded samples: server time of every page and filter, memory, and the report."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

from bench.measure import Line, run
from bench.recorded import TASK

READERS = 20
TIMES = 5
PAGES = {
    "list of runs": "/",
    "run": "/runs/b",
    "samples": "/runs/b/samples",
    "next page": "/runs/b/samples?after=500000",
    "wrong": "/runs/b/samples?show=wrong",
    "a value": "/runs/b/samples?in:sample/topic=t7",
    "two values and a number": "/runs/b/samples?in:sample/topic=t7&show=wrong&where=level+%3E+0.5",
    "sorted": "/runs/b/samples?sort=-sample/level",
    "sorted, filtered": "/runs/b/samples?sort=sample/level&show=wrong",
    "a rare word": "/runs/b/samples?q=123456",
    "a word of every sample": "/runs/b/samples?q=statement",
    "a word that nothing has": "/runs/b/samples?q=zebra",
    "a word and a filter": "/runs/b/samples?q=statement&in:sample/topic=t7",
    "sample": "/runs/b/samples/777777?show=wrong",
    "grid": "/grid?runs=a&runs=b",
    "comparison": "/compare?runs=a&runs=b",
}


def measure(n: int = 1_000_000) -> Iterator[Line]:
    """Two runs whose answers differ in a quarter of the samples."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / ".assay").mkdir()
        _write_runs(folder, n)
        report = run("-m", "assay", "report", "b", "-o", "report.html", folder=folder)
        size = (folder / "report.html").stat().st_size
        yield Line(
            what=f"size of the report of {n:,} samples",
            ratio=size / 1e6,
            budget=5,
            unit="M",
            detail=f"written in {report.cpu_s:.1f} s of CPU, {report.peak_mb:.0f} MB",
        )
        yield from _pages(folder, n)


def _write_runs(folder: Path, n: int) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(TASK.replace("output", name), encoding="utf-8")
    with (folder / "data.jsonl").open("w", encoding="utf-8") as out:
        for i in range(n):
            answer, a, b = ("yes" if i % k else "no" for k in (3, 5, 7))
            question = f"Is statement number {i} of this long list of statements true?"
            out.write(
                f'{{"sample_id": "q-{i}", "topic": "t{i % 40}", "level": {i * 7919 % 1000 / 1000}, "question": '
                f'"{question}", "answer": "{answer}", "a": "{a}", "b": "{b}"}}\n'
            )
    for name in ("a", "b"):
        run("-m", "assay", "run", f"{name}.yaml", "-q", "--name", name, folder=folder)


def _pages(folder: Path, n: int) -> Iterator[Line]:
    server = subprocess.Popen(
        [sys.executable, "-m", "assay", "view"],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        base = server.stdout.readline().split()[3].rstrip("/")
        _get(base + "/assets/style.css")
        first, _ = _get(base + "/runs/b/samples")
        yield Line(
            what="first page of samples, before there is an index", ratio=first, budget=400, unit="ms", detail=""
        )
        started = time.perf_counter()
        for name in ("a", "b"):
            while "data-counting" in _get(f"{base}/runs/{name}/samples")[1]:
                time.sleep(1)
        built_s = time.perf_counter() - started
        while "loads again" in _get(base + PAGES["comparison"])[1]:
            time.sleep(1)
        slowest = {}
        for name, path in PAGES.items():
            # an address that was not asked for yet is computed; the best of several leaves out the machine's other work
            slowest[name] = min(_get(_another(base + path, k))[0] for k in range(TIMES))
        worst = max(slowest, key=lambda name: slowest[name])
        yield Line(
            what=f"slowest of {len(PAGES)} pages and filters of {n:,} samples, server time",
            ratio=slowest[worst],
            budget=100,
            goal=20,
            unit="ms",
            detail=f"{worst}; " + ", ".join(f"{name} {ms:.0f}" for name, ms in slowest.items()),
        )
        yield Line(
            what="memory of the viewer after all of them",
            ratio=_peak_mb(server.pid),
            budget=150,
            unit="MB",
            detail=f"both indexes built in {built_s:.0f} s",
        )
        yield _while_a_run_writes(folder, base)
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()


def _another(address: str, number: int) -> str:
    """An address that asks for the same with another filter, so that no remembered list answers it."""
    if "/samples?" not in address:
        return address
    return f"{address}&where=is_correct+%3C+{number + 2}"


def _get(address: str) -> tuple[float, str]:
    """Milliseconds from the request to the last byte of the answer, and the page."""
    started = time.perf_counter()
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            text = answer.read().decode()
    except HTTPError as error:
        raise RuntimeError(f"{address}: {error.read().decode()[:500]}") from error
    return 1000 * (time.perf_counter() - started), text


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def _while_a_run_writes(folder: Path, base: str) -> Line:
    """Readers of pages while another process writes a run into the same store."""
    (folder / "c.yaml").write_text(TASK.replace("output", "a"), encoding="utf-8")
    command = [sys.executable, "-m", "assay", "run", "c.yaml", "-q", "--name", "c", "--fresh"]
    writer = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    times: list[float] = []
    failed: list[str] = []

    def read(number: int) -> None:
        paths = list(PAGES.values())
        place = number
        while writer.poll() is None:
            try:
                times.append(_get(base + paths[place % len(paths)])[0])
            except (OSError, RuntimeError) as error:
                failed.append(str(error))
            place += 1
            time.sleep(0.2)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    return Line(
        what=f"failed requests of {READERS} readers while a run writes",
        ratio=len(failed),
        budget=0,
        unit="",
        detail=f"{len(times):,} pages, median {times[len(times) // 2]:.0f} ms; the run ended with {writer.returncode}",
    )
