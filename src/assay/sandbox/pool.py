"""User code run safely: workers are started once for a snippet, used again, and replaced when they are lost."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import orjson

from assay.sandbox.conversation_host import Answer, ConversationHosts, IsolatedConversations
from assay.sandbox.forked import Forked, Server
from assay.sandbox.linux import CodeLimits
from assay.sandbox.process import Channel, Worker, WorkerLost
from assay.sandbox.program import CallFailed, Program, Result

SLICE_ROWS = 500
SLICE_BYTES = 4_000_000
FORKED_ROWS = 20
"""Rows that a thread takes at a time where each row has a process: starting one takes longer than asking for more."""
MOST_WIDE = 4
PATIENCE_S = 0.2
"""A second worker joins when a batch takes longer than this: starting one costs half as much."""
MOST_LOST = 25
"""After so many workers lost in a row, with no call that ended well, the rest is not tried any more."""
CONVERSATIONS = 1_000
"""The CPU limit of a process with conversations, as a multiple of that of other processes."""
OVER = "not run: the run is over"
WHOLE_RUN = 10
"""A call over all samples of a run may take this many times as long as one over one sample."""


class Sandbox:
    """The sandbox for a run's user code; the run owns and closes it.

    >>> program = Program(source="def double(x): return 2 * x", function="double", shape="plain")
    >>> with Sandbox() as sandbox:
    ...     [result.value for result in sandbox.map(program, [[1], [2]])]
    [2, 4]
    """

    def __init__(self, *, limits: CodeLimits | None = None, trusted: bool = False) -> None:
        self._limits = limits or CodeLimits()
        self._trusted = trusted
        self._lock = threading.Lock()
        self._idle: dict[Program, list[Worker]] = {}
        self._alive: set[Worker] = set()
        self._lost: dict[Program, int] = {}
        self._closed = False
        self._broken: dict[Program, str] = {}
        self._conversations: dict[Program, ConversationHosts | IsolatedConversations] = {}
        self._servers: dict[Worker, Server] = {}
        # the kernel ends a worker when the thread that started it ends: this one lives as long as the sandbox
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="assay-start")
        self._helpers = ThreadPoolExecutor(MOST_WIDE, thread_name_prefix="assay-code")
        self._width = min(MOST_WIDE, os.cpu_count() or 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker."""
        for conversations in self._conversations.values():
            conversations.end()
        with self._lock:
            self._closed = True
            workers, self._alive = self._alive, set()
            self._idle.clear()
        for worker in workers:
            worker.end()
        self._helpers.shutdown(wait=True, cancel_futures=True)
        self._starter.shutdown(wait=True)

    def call(self, program: Program, argument: Any) -> Result:
        """One call over everything at once, which may take longer than one over a row."""
        return self._slice(program, [_encoded(argument)], most_s=self._limits.call_s * WHOLE_RUN)[0]

    def map(self, program: Program, rows: Sequence[Any]) -> list[Result]:
        """One call a row; a row that fails, crashes or hangs fails alone."""
        results: list[Result] = [CallFailed("not run")] * len(rows)
        # two processes at a time from the start: one is forked while the other one runs
        step, patience_s = (FORKED_ROWS, 0.0) if program.isolation == "process" else (SLICE_ROWS, PATIENCE_S)
        waiting = deque(range(0, len(rows), step))

        def work() -> None:
            while True:
                try:
                    start = waiting.popleft()
                except IndexError:
                    return
                some = [_encoded(row) for row in rows[start : start + step]]
                results[start : start + len(some)] = self._slice(program, some, most_s=self._limits.call_s)

        over = threading.Event()

        def help_out() -> None:
            if not over.wait(patience_s):
                work()

        wide = min(self._width, len(waiting)) - 1
        helping = [self._helpers.submit(help_out) for _ in range(wide)]
        try:
            work()
        finally:
            over.set()
        for helper in helping:
            helper.result()
        return results

    async def converse(self, program: Program, row: Any, answer: Answer) -> Result:
        """Run a conversation led by the program: `answer` is asked for the reply to each list of items."""
        if program not in self._conversations:
            alone = program.isolation == "process"

            async def start() -> Channel | CallFailed:
                return await asyncio.to_thread(self._forked if alone else self._taken, program)

            most_s = self._limits.call_s
            self._conversations[program] = (
                IsolatedConversations(start, most_s=most_s)
                if alone
                else ConversationHosts(start, most_s=most_s, width=self._width)
            )
        return await self._conversations[program].converse(row, answer)

    def _slice(self, program: Program, rows: Sequence[bytes], *, most_s: float) -> list[Result]:
        """The results of some rows, however many workers that takes."""
        if program.isolation == "process":
            return [self._alone(program, row, most_s=most_s) for row in rows]
        results: list[Result] = []
        for group in _groups(rows):
            batch = _Batch(group)
            while batch.pending:
                worker = self._taken(program)
                if isinstance(worker, CallFailed):
                    batch.take([worker] * len(batch.pending))
                else:
                    self._attempt(program, worker, batch, most_s)
            results += batch.results
        return results

    def _alone(self, program: Program, row: bytes, *, most_s: float) -> Result:
        """Run one row in its own process."""
        child = self._forked(program)
        if isinstance(child, CallFailed):
            return child
        results: list[Result] = []
        try:
            child.call([row], results.extend, most_s=most_s)
        except WorkerLost as lost:
            return CallFailed(str(lost))
        finally:
            child.end()
        if len(results) == 1:
            return results[0]
        return CallFailed("the worker sent a different number of results than rows")

    def _forked(self, program: Program) -> Forked | CallFailed:
        """A pristine child of the program's fork server, which is started anew when it is lost."""
        while True:
            worker = self._taken(program)
            if isinstance(worker, CallFailed):
                return worker
            with self._lock:
                server = self._servers.setdefault(worker, Server(worker))
            try:
                child = server.fork()
            except WorkerLost:
                worker.end()
                self._forget(program, worker, progressed=False)
            else:
                self._give_back(program, worker)
                return child

    def _attempt(self, program: Program, worker: Worker, batch: _Batch, most_s: float) -> None:
        order = batch.next_rows()
        left = len(batch.pending) - len(order)
        try:
            worker.call([batch.rows[place] for place in order], batch.take, most_s=most_s)
            if len(batch.pending) != left:
                raise WorkerLost("the worker sent a different number of results than rows", 0)
        except WorkerLost as lost:
            worker.end()
            progressed = len(batch.pending) < left + len(order)
            batch.blame(order[min(max(lost.row, 0), len(order) - 1)], str(lost))
            self._forget(program, worker, progressed=progressed)
        else:
            self._give_back(program, worker)

    def _taken(self, program: Program) -> Worker | CallFailed:
        with self._lock:
            if self._closed:
                return CallFailed(OVER)
            if program in self._broken:
                return CallFailed(self._broken[program])
            idle = self._idle.setdefault(program, [])
            if idle:
                return idle.pop()
        limits = self._limits
        if program.shape in ("conversation", "inference") and program.isolation == "batch":
            # many conversations share the process: none may be blamed for what all have used
            limits = replace(limits, cpu_s=limits.cpu_s * CONVERSATIONS)
        # outside the lock: others take and give back workers while this one starts
        worker = self._starter.submit(Worker, program, limits, trusted=self._trusted).result()
        with self._lock:
            self._alive.add(worker)
        if self._is_over():
            worker.end()
            return CallFailed(OVER)
        worker.start()
        if worker.broken is None:
            return worker
        with self._lock:
            self._broken[program] = worker.broken
            self._alive.discard(worker)
        worker.end()
        return CallFailed(worker.broken)

    def _is_over(self) -> bool:
        """Return whether the sandbox was closed while a worker was starting."""
        with self._lock:
            return self._closed

    def _give_back(self, program: Program, worker: Worker) -> None:
        with self._lock:
            self._lost[program] = 0
            # one that has used more could reach its CPU limit in the middle of an innocent row
            if worker in self._alive and worker.cpu_s < self._limits.cpu_s / 2:
                self._idle[program].append(worker)
                return
            if worker.control is not None and worker in self._alive:
                # its children may still be at work: it is ended with the sandbox
                return
            self._alive.discard(worker)
        worker.end()

    def _forget(self, program: Program, worker: Worker, *, progressed: bool) -> None:
        with self._lock:
            self._alive.discard(worker)
            # results came before the loss, so a new series of losses begins with this one
            self._lost[program] = 1 if progressed else self._lost.get(program, 0) + 1
            if self._lost[program] >= MOST_LOST:
                self._broken[program] = f"not run: the code ended its process {MOST_LOST} times in a row"


class _Batch:
    """Rows sent over the pipe together, their results, and the positions without a result yet."""

    def __init__(self, rows: Sequence[bytes]) -> None:
        self.rows = rows
        self.results: list[Result] = [CallFailed("not run")] * len(rows)
        self.pending = deque(range(len(rows)))
        self._safe = 0

    def next_rows(self) -> list[int]:
        """Return the rows to run next: rows that succeeded before if their results were lost, else all."""
        order = list(self.pending)
        order, self._safe = order[: self._safe or None], 0
        return order

    def take(self, some: Sequence[Result]) -> None:
        """Take the next results, in order; raise IndexError if there are more than rows."""
        for result in some:
            self.results[self.pending.popleft()] = result

    def blame(self, place: int, detail: str) -> None:
        """Fail the row that was running when its worker was lost; those before it run again, by themselves."""
        if not self.pending:
            return
        culprit = place if place in self.pending else self.pending[0]
        self.results[culprit] = CallFailed(detail)
        self._safe = self.pending.index(culprit)
        self.pending.remove(culprit)


def _encoded(row: Any) -> bytes:
    try:
        return orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # a lone surrogate, an integer of more than 64 bits
        return json.dumps(row, default=str).encode()


def _groups(rows: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Rows that go over the pipe together: many small ones, few large ones."""
    group: list[bytes] = []
    size = 0
    for row in rows:
        if group and size + len(row) > SLICE_BYTES:
            yield group
            group, size = [], 0
        group.append(row)
        size += len(row)
    if group:
        yield group
