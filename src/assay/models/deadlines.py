"""Waiting for an answer, but not for ever: one timer for the first byte and the whole answer of all calls.

A timer per call costs as much CPU as the whole wait: the HTTP library's own time-outs make a call a third dearer. All
calls of an endpoint have the same limits, so the oldest call is always the next to run out of time.
"""

from __future__ import annotations

import asyncio
import time

_Waiting = dict[int, tuple[float, asyncio.Task[object]]]
"""The calls of a queue by ticket: when each began, and its task."""


class Deadlines:
    """Cancels calls that take too long; they learn from `expired` that their run goes on."""

    def __init__(self, first_byte_s: float, total_s: float) -> None:
        self._first_byte_s = first_byte_s
        self._total_s = total_s
        # two queues in the order of the calls: each has one limit, so its head is the next to expire
        self._before_first_byte: _Waiting = {}
        self._unfinished: _Waiting = {}
        self._late: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0

    def begin(self, moment: float) -> int:
        """Start the clock for a call of the current task at a moment of `time.monotonic`; returns its ticket."""
        task = asyncio.current_task()
        assert task is not None
        self._last = ticket = self._last + 1
        self._before_first_byte[ticket] = self._unfinished[ticket] = (moment, task)
        if self._timer is None:
            shortest_s = min(self._first_byte_s, self._total_s)
            self._timer = asyncio.get_running_loop().call_later(shortest_s, self._expire)
        return ticket

    def note_first_byte(self, ticket: int) -> None:
        """From now on only the limit of the whole answer counts."""
        self._before_first_byte.pop(ticket, None)

    def end(self, ticket: int) -> None:
        """Stop the clock of a call, whatever came of it."""
        self._before_first_byte.pop(ticket, None)
        self._unfinished.pop(ticket, None)
        self._late.discard(ticket)

    def expired(self, ticket: int) -> bool:
        """Return whether this timer cancelled the call, and withdraw the cancellation."""
        task = asyncio.current_task()
        if ticket not in self._late or task is None:
            return False
        # above 0 the run is being stopped as well, and that cancellation has to go on
        return task.uncancel() == 0

    def _expire(self) -> None:
        """Cancel every call that is out of time, and set the timer to the next one."""
        self._timer = None
        now = time.monotonic()
        waits_s = []
        for queue, limit_s in ((self._before_first_byte, self._first_byte_s), (self._unfinished, self._total_s)):
            for ticket, (started, task) in list(queue.items()):
                left_s = started + limit_s - now
                if left_s > 0:
                    waits_s.append(left_s)
                    break
                # out of both queues: a second cancellation could not be told from the end of the run
                self._before_first_byte.pop(ticket, None)
                self._unfinished.pop(ticket, None)
                self._late.add(ticket)
                task.cancel()
        if waits_s:
            self._timer = asyncio.get_running_loop().call_later(min(waits_s), self._expire)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
