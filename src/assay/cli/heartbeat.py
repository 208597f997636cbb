"""A sign of life on a terminal: a command that works for more than two seconds without printing shows the time."""

from __future__ import annotations

import sys
import threading
import time
from typing import TextIO

QUIET_S = 1.5
EVERY_S = 0.5


class Heartbeat:
    """Shows the seconds that a command has been at work, in a line that its next output replaces.

    It runs in a thread of its own, since the work it reports on is one long call of numpy or of the database.
    """

    def __init__(self, stream: TextIO, *, quiet_s: float = QUIET_S, every_s: float = EVERY_S) -> None:
        self._stream = stream
        self._quiet_s = quiet_s
        self._every_s = every_s
        self._over = threading.Event()
        self._started = self._last = time.monotonic()
        self._drawn = False
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._over.wait(min(self._every_s, self._quiet_s)):
            moment = time.monotonic()
            if moment - self._last < self._quiet_s:
                continue
            # the carriage return at the end: whatever is printed next starts on this line
            self._stream.write(f"\r\x1b[2Kworking, {moment - self._started:.0f} s\r")
            self._stream.flush()
            self._drawn = True

    def postpone(self) -> None:
        """Begin to wait anew: something else was shown."""
        self._last = time.monotonic()

    def stop(self) -> None:
        """Erase the line and show no more; called before a command prints its result."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join()
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()


_running: list[Heartbeat] = []


def start_heartbeat() -> None:
    """Show a sign of life until `stop_heartbeat`, if there is a terminal to show it on."""
    if not _running and sys.stderr.isatty():
        _running.append(Heartbeat(sys.stderr))


def postpone_heartbeat() -> None:
    """Wait anew before the next sign of life: the command has shown something itself."""
    for running in _running:
        running.postpone()


def stop_heartbeat() -> None:
    """Show no further sign of life: the command prints its result, or ends."""
    while _running:
        _running.pop().stop()
