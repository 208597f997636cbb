"""Work that takes longer than a page may: done once beside the server, its result remembered."""

from __future__ import annotations

import multiprocessing
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import Any, TypeVar

Result = TypeVar("Result")
PATIENCE_S = 0.2
"""A page waits so long for a result; then it says what is going on, and loads again."""
REMEMBERED = 32


class Pending(Exception):
    """The result is not there yet."""


class Background:
    """Runs functions in a thread, or in a process of its own what needs much memory; one at a time each."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="assay-view-work")
        self._processes: ProcessPoolExecutor | None = None
        self._jobs: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def result(
        self,
        key: Hashable,
        work: Callable[..., Result],
        *arguments: Any,
        apart: bool = False,
        patience_s: float = PATIENCE_S,
    ) -> Result:
        """The result of some work, begun where nobody has; Pending while it is not there. Its error is raised again."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = self._pool(apart).submit(work, *arguments)
                for old in [k for k, j in self._jobs.items() if j.done()][: max(len(self._jobs) - REMEMBERED, 0)]:
                    del self._jobs[old]
        try:
            result: Result = job.result(timeout=patience_s)
            return result
        except NotYet:
            if job.done():
                raise
            raise Pending from None

    def _pool(self, apart: bool) -> ThreadPoolExecutor | ProcessPoolExecutor:
        if not apart:
            return self._threads
        if self._processes is None:
            # a fresh process per task gives all memory back; forking a process with threads may hang it
            self._processes = ProcessPoolExecutor(
                1,
                mp_context=multiprocessing.get_context("spawn"),
                max_tasks_per_child=1,
                initializer=_be_nice,
            )
        return self._processes

    def close(self) -> None:
        """Stop what is under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._processes is not None:
            # an index that is half built is of no use: its process ends now
            for process in list((self._processes._processes or {}).values()):
                process.terminate()
            self._processes.shutdown(wait=True, cancel_futures=True)


def _be_nice() -> None:
    """Let the server, whose pages people wait for, go first."""
    if hasattr(os, "nice"):
        os.nice(10)
