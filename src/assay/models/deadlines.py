"""Waiting for an answer, but not for ever: one timer for the first byte and the whole answer of all calls.

A timer per call costs as much CPU as the whole wait: the HTTP library's own time-outs make a call a third dearer. All
calls of an endpoint have the same limits, so the oldest call is always the next to run out of time.
"""

from __future__ import annotations

import asyncio
import time


class Ticket:
    """A call that is waited for: its task, when it began, and how far it has come."""

    __slots__ = ("has_first_byte", "is_late", "started", "task")

    def __init__(self, task: asyncio.Task[object], started: float) -> None:
        self.task = task
        self.started = started
        self.has_first_byte = False
        self.is_late = False


class Deadlines:
    """Cancels calls that take too long; they learn from `expired` that their run goes on."""

    def __init__(self, first_byte_s: float, total_s: float) -> None:
        self._first_byte_s = first_byte_s
        self._total_s = total_s
        # in the order in which they began: of those that wait for the same, the first is the next to expire
        self._unfinished: dict[Ticket, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, moment: float) -> Ticket:
        """Start the clock for a call of the current task at a moment of `time.monotonic`; returns its ticket."""
        task = asyncio.current_task()
        assert task is not None
        ticket = Ticket(task, moment)
        self._unfinished[ticket] = None
        if self._timer is None:
            shortest_s = min(self._first_byte_s, self._total_s)
            self._timer = asyncio.get_running_loop().call_later(shortest_s, self._expire)
        return ticket

    def end(self, ticket: Ticket) -> None:
        """Stop the clock of a call, whatever came of it."""
        self._unfinished.pop(ticket, None)

    def expired(self, ticket: Ticket) -> bool:
        """Tell whether the call was cancelled from here, and take that cancellation back."""
        task = asyncio.current_task()
        if not ticket.is_late or task is None:
            return False
        ticket.is_late = False
        # above 0 the run is being stopped as well, and that cancellation has to go on
        return task.uncancel() == 0

    def _expire(self) -> None:
        """Cancel every call that is out of time, and set the timer to the next one."""
        self._timer = None
        now = time.monotonic()
        next_s: float | None = None
        for ticket in list(self._unfinished):
            limit_s = self._total_s
            if not ticket.has_first_byte:
                limit_s = min(self._first_byte_s, self._total_s)
            left_s = ticket.started + limit_s - now
            if left_s > 0:
                next_s = left_s if next_s is None else min(next_s, left_s)
                continue
            # taken out: a second cancellation could not be told from the end of the run
            self._unfinished.pop(ticket, None)
            ticket.is_late = True
            ticket.task.cancel()
        if next_s is not None:
            self._timer = asyncio.get_running_loop().call_later(next_s, self._expire)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
