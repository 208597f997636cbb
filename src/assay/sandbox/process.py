"""One worker as its parent sees it: started, asked, watched, and ended when it does not answer."""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from assay.errors import RunError
from assay.sandbox.frames import HEAD_BYTES, FrameError, framed, length_in
from assay.sandbox.linux import Limits
from assay.sandbox.program import CallFailed, Program, Result, Returned
from assay.sandbox.worker import STATUS, STATUS_BYTES

TICK_MS = 100
START_S = 30.0
LOAD_S = 30.0
"""Importing large packages takes its time, however short calls are meant to be."""
MOST_REPLY = 64_000_000
SHOWN_PRINT = 500
_PACKAGES = Path(__file__).parents[2]
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from assay.sandbox.worker import main; "
    "del sys.path[0]; main(int(sys.argv[2]))"
)
# nothing of the parent's environment; one thread for linear algebra, because every thread takes address space
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class WorkerLost(Exception):
    """The worker ended, or had to be ended; `row` is what it was doing, counted within the call."""

    def __init__(self, detail: str, row: int) -> None:
        super().__init__(detail)
        self.row = row


class Worker:
    """A process with one snippet in it."""

    def __init__(self, program: Program, limits: Limits, *, trusted: bool) -> None:
        if os.name != "posix":
            raise RunError("user code needs Linux or macOS: its process is spoken to over pipes of theirs")
        self._limits = limits
        self._buffer = bytearray()
        self.broken: str | None = None
        self.cpu_s = 0.0
        with tempfile.TemporaryFile() as status:
            status.truncate(STATUS_BYTES)
            self.board = mmap.mmap(status.fileno(), STATUS_BYTES)
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own words
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, str(_PACKAGES), str(status.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=(status.fileno(),),
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.to, self.origin = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self.to, False)
        os.set_blocking(self.origin, False)
        self._boot = {
            "program": program.document(),
            "limits": asdict(limits),
            "network": program.network,
            "confined": not trusted,
            "parent": os.getpid(),
        }

    def start(self) -> None:
        """Load the snippet; `broken` says how that failed. A RunError where the machine cannot confine it."""
        try:
            refused = self._exchange(orjson.dumps(self._boot), lambda message: True, most_s=START_S)["refused"]
        except WorkerLost as lost:
            raise RunError(f"the process for user code did not start: {lost}") from None
        if refused is not None:
            self.end()
            raise RunError(f"code cannot be confined here: {refused}; --trust-code runs it all the same")
        try:
            most_s = max(LOAD_S, self._limits.call_s)
            self.broken = self._exchange(b"{}", lambda message: True, most_s=most_s)["broken"]
        except WorkerLost as lost:
            self.broken = f"{lost}\n  (while the snippet was loaded)"

    def call(self, rows: Sequence[bytes], take: Callable[[list[Result]], None], *, most_s: float) -> None:
        """Run the rows, each at most `most_s` seconds, and hand over results as they come, until WorkerLost."""

        def received(message: Any) -> bool:
            self.cpu_s = float(message["cpu"])
            take([result_of(entry) for entry in message["results"]])
            return bool(message["done"])

        self._exchange(b'{"rows":[' + b",".join(rows) + b"]}", received, most_s=most_s)

    def _exchange(self, content: bytes, received: Callable[[Any], bool], *, most_s: float) -> Any:
        """Send a message and hand over replies until one is the last; WorkerLost when that does not happen."""
        STATUS.pack_into(self.board, 0, 0)
        try:
            return self._pump(memoryview(framed(content)), received, most_s)
        except FrameError as error:
            detail = str(error)
        except (ValueError, LookupError, TypeError, RecursionError):
            detail = "the worker sent what is no result"
        self.end()
        raise WorkerLost(detail, STATUS.unpack_from(self.board)[0])

    def _pump(self, rest: memoryview, received: Callable[[Any], bool], most_s: float) -> Any:
        """Write and read as the pipes allow; the time starts anew with every row."""
        poller = select.poll()
        poller.register(self.origin, select.POLLIN)
        poller.register(self.to, select.POLLOUT)
        row, since = 0, time.monotonic()
        while True:
            for descriptor, _ in poller.poll(TICK_MS):
                if descriptor == self.origin:
                    for message in self.read():
                        if received(message):
                            return message
                    continue
                rest = self.write(rest)
                if not rest:
                    poller.unregister(self.to)
            at, now = STATUS.unpack_from(self.board)[0], time.monotonic()
            if at != row:
                row, since = at, now
            elif now - since > most_s:
                raise FrameError(f"took longer than {most_s:g} s")

    def write(self, rest: memoryview) -> memoryview:
        """Send as much as the pipe takes; gives what is left. A FrameError when nobody reads."""
        try:
            return rest[os.write(self.to, rest[: 1 << 20]) :]
        except BlockingIOError:
            return rest
        except OSError:
            raise FrameError(self._how_it_ended()) from None

    def read(self) -> list[Any]:
        """The messages that are complete by now. A FrameError when there will be no more."""
        try:
            data = os.read(self.origin, 1 << 20)
        except BlockingIOError:
            return []
        if not data:
            raise FrameError(self._how_it_ended())
        self._buffer += data
        messages = []
        while len(self._buffer) >= HEAD_BYTES:
            end = HEAD_BYTES + length_in(self._buffer, MOST_REPLY)
            if len(self._buffer) < end:
                break
            messages.append(_loaded(bytes(self._buffer[HEAD_BYTES:end])))
            del self._buffer[:end]
        return messages

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return "the code closed the pipe of its process"
        if code == -signal.SIGKILL:
            why = f"it used {self._limits.cpu_s} s of CPU, or the machine ran out of memory"
            return f"the code's process was killed: {why}"
        if code < 0:
            return f"the code crashed its process ({signal.Signals(-code).name})"
        return f"the code ended its process (exit code {code})"

    def end(self) -> None:
        """End the process and everything in it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()


def _loaded(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # NaN and lone surrogates, which orjson does not take, are judged by whoever asked
        return json.loads(content)


def result_of(entry: Any) -> Result:
    """How a call ended, as the worker tells it."""
    done, value, *printed = entry
    said = _storable(printed[0]) if printed else ""
    if done is True:
        return Returned(value, said)
    return CallFailed(f"{_storable(value)}\n  printed: {said[:SHOWN_PRINT]}" if said else _storable(value))


def _storable(text: Any) -> str:
    """Text that can be stored: lone surrogates are written out."""
    return str(text).encode(errors="backslashreplace").decode()
