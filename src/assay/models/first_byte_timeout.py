"""Waiting for the first byte, but not for ever: one timer for all calls of an endpoint.

A timer a call costs as much CPU as the whole wait (measured: the HTTP library's own read time-out makes a call a
third dearer). Since all calls have the same patience, the oldest is always the next to lose it.
"""

from __future__ import annotations

import asyncio
import time


class FirstByteTimeout:
    """Cancels calls whose first byte has not come in time; they learn from `lost` that it was not their run's end."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._waiting: dict[int, tuple[float, asyncio.Task[object]]] = {}
        self._late: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0

    def begin(self) -> int:
        """The current task begins to wait; gives its ticket."""
        task = asyncio.current_task()
        assert task is not None
        self._last += 1
        self._waiting[self._last] = (time.monotonic() + self._limit_s, task)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._limit_s, self._look)
        return self._last

    def end(self, ticket: int) -> None:
        """The wait is over, well or badly."""
        self._waiting.pop(ticket, None)
        self._late.discard(ticket)

    def lost(self, ticket: int) -> bool:
        """Was the task cancelled from here? Then the cancellation is taken back."""
        task = asyncio.current_task()
        if ticket not in self._late or task is None:
            return False
        # above 0 the run is being stopped as well, and that cancellation has to go on
        return task.uncancel() == 0

    def _look(self) -> None:
        self._timer = None
        for ticket, (deadline, task) in list(self._waiting.items()):
            left_s = deadline - time.monotonic()
            # deadlines are in order: the first with time left is the next to run out
            if left_s > 0:
                self._timer = asyncio.get_running_loop().call_later(left_s, self._look)
                return
            del self._waiting[ticket]
            self._late.add(ticket)
            task.cancel()

    def close(self) -> None:
        """Stop the clock."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
