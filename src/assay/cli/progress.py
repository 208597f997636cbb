"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing for work under two seconds."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.cli.heartbeat import postpone_heartbeat, start_heartbeat, stop_heartbeat
from assay.text import clean, duration

if TYPE_CHECKING:
    from assay.api.run import Listener, Progress

QUIET_S = 2.0
TERMINAL_EVERY_S = 0.2
LINE_EVERY_S = 5.0


@contextmanager
def watch(*, enabled: bool) -> Iterator[Listener]:
    """Yield a listener that prints the progress of a run."""
    from assay.api.run import silent

    if not enabled:
        # -q: not even a sign of life
        stop_heartbeat()
        yield silent
        return
    shown = _Shown(terminal=sys.stderr.isatty())
    # for the parts of a run that report no progress: reading the dataset's digest, computing metrics
    start_heartbeat()
    try:
        yield shown.update
    finally:
        stop_heartbeat()
        shown.close()


class _Shown:
    def __init__(self, *, terminal: bool) -> None:
        self._terminal = terminal
        self._started = time.monotonic()
        self._last = self._started
        self._drawn = False

    def update(self, progress: Progress) -> None:
        moment = time.monotonic()
        every = TERMINAL_EVERY_S if self._terminal else LINE_EVERY_S
        if moment - self._started < QUIET_S or (self._drawn and moment - self._last < every):
            return
        line = progress_line(progress, elapsed_s=moment - self._started)
        if self._terminal:
            # a wrapped line could not be erased again
            sys.stderr.write(f"\r\x1b[2K{clean(line, width=shutil.get_terminal_size().columns - 1)}")
        else:
            sys.stderr.write(f"{clean(line)}\n")
        sys.stderr.flush()
        self._last, self._drawn = moment, True
        postpone_heartbeat()

    def close(self) -> None:
        if self._terminal and self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def progress_line(progress: Progress, *, elapsed_s: float) -> str:
    """Format the progress of a run as one line: counts, rate, time left, cost, open requests, reason for waiting."""
    fresh = progress.done - progress.resumed
    rate = fresh / elapsed_s if elapsed_s > 0 else 0.0
    total = f"/{progress.total:,}" if progress.total is not None else ""
    parts = [f"{progress.done:,}{total} samples"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.cached:
        parts.append(f"{progress.cached:,} cached")
    parts.append(f"{rate:,.0f}/s" if rate >= 10 else f"{rate:,.1f}/s")
    if progress.total is not None and rate > 0:
        parts.append(f"{duration((progress.total - progress.done) / rate)} left")
    if progress.cost_usd:
        parts.append(f"${progress.cost_usd:.4f}")
    if progress.in_flight is not None:
        parts.append(f"{progress.in_flight} in flight")
    if progress.waiting:
        parts.append(progress.waiting)
    return " · ".join(parts)
