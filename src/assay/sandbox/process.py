"""One worker as its parent sees it: started, asked, watched, and ended when it does not answer."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from assay.errors import RunError
from assay.sandbox.frames import HEAD_BYTES, FrameError, framed, length_in
from assay.sandbox.linux import CodeLimits
from assay.sandbox.program import CallFailed, Program, Result, Returned
from assay.sandbox.worker import STATUS, STATUS_BYTES

TICK_MS = 50
GRACE_S = 0.25
"""Beyond the time of a call: results are sent 0.02 s late at most, and crossing the pipe takes its time as well."""
START_S = 30.0
LOAD_S = 30.0
"""Importing large packages takes its time, however short calls are meant to be."""
MOST_REPLY = 64_000_000
SHOWN_PRINT = 500
_FORGED = "the code wrote to the pipe of its process"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The meaning of a message: the end of the exchange, progress that extends the time limit, or a question."""

    last: bool = False
    progress: bool = False
    reply: bytes = b""


class Channel:
    """Two descriptors to a process with a loaded snippet, on which calls are made and watched."""

    def __init__(self, to: int, origin: int, board: Any) -> None:
        self.to, self.origin, self.board = to, origin, board
        self._buffer = bytearray()
        self.cpu_s = 0.0
        os.set_blocking(to, False)
        os.set_blocking(origin, False)

    def call(self, rows: Sequence[bytes], take: Callable[[list[Result]], None], *, most_s: float) -> None:
        """Run the rows, each at most `most_s` seconds, and hand over results as they come, until WorkerLost."""
        token: str | None = None

        def received(message: Any) -> _Answer:
            nonlocal token
            if "ready" in message:
                if token is not None:
                    raise FrameError(_FORGED)
                # drawn only now: while the code ran there was no token to be read anywhere
                token = secrets.token_hex(16)
                return _Answer(reply=orjson.dumps({"token": token}))
            if token is None or not secrets.compare_digest(str(message["token"]), token):
                raise FrameError(_FORGED)
            token = None
            self.cpu_s = float(message["cpu"])
            take([result_of(entry) for entry in message["results"]])
            done = bool(message["done"])
            # a message that brings nothing new does not buy time
            return _Answer(last=done, progress=bool(message["results"]))

        self._exchange(b'{"rows":[' + b",".join(rows) + b"]}", received, most_s=most_s)

    def _exchange(self, content: bytes, received: Callable[[Any], _Answer], *, most_s: float) -> Any:
        """Send a message and hand over replies until one is the last; WorkerLost when that does not happen."""
        STATUS.pack_into(self.board, 0, 0)
        try:
            return self._pump(memoryview(framed(content)), received, most_s)
        except FrameError as error:
            detail = str(error)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            detail = "the worker sent an invalid result"
        self.end()
        raise WorkerLost(detail, STATUS.unpack_from(self.board)[0])

    def _pump(self, rest: memoryview, received: Callable[[Any], _Answer], most_s: float) -> Any:
        """Write and read as the pipes allow; the time is ours, and starts anew only with results that were accepted."""
        until = time.monotonic() + most_s + GRACE_S
        while True:
            readable, writable = self._ready(bool(rest))
            if writable:
                rest = self.write(rest)
            for message in self.read() if readable else ():
                answer = received(message)
                if answer.last:
                    return message
                if answer.progress:
                    until = time.monotonic() + most_s + GRACE_S
                if answer.reply:
                    rest = memoryview(bytes(rest) + framed(answer.reply))
            if time.monotonic() > until:
                raise FrameError(f"took longer than {most_s:g} s")

    def _ready(self, writing: bool) -> tuple[bool, bool]:
        """Wait briefly until there is something to read or, when writing, room for it."""
        poller = select.poll()
        poller.register(self.origin, select.POLLIN)
        if writing:
            # one socket may be both ends, and registering it again replaces what is waited for
            poller.register(self.to, select.POLLOUT | (select.POLLIN if self.to == self.origin else 0))
        events = dict(poller.poll(TICK_MS))
        return bool(events.get(self.origin, 0) & ~select.POLLOUT), writing and bool(
            events.get(self.to, 0) & ~select.POLLIN
        )

    def write(self, rest: memoryview) -> memoryview:
        """Send as much as the pipe accepts and return the rest; raise FrameError if the reader is gone."""
        try:
            return rest[os.write(self.to, rest[: 1 << 20]) :]
        except BlockingIOError:
            return rest
        except OSError:
            raise FrameError(self.how_it_ended()) from None

    def read(self) -> list[Any]:
        """Return the complete messages so far; raise FrameError if there will be no more."""
        try:
            data = os.read(self.origin, 1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            raise FrameError(self.how_it_ended())
        self._buffer += data
        messages = []
        while len(self._buffer) >= HEAD_BYTES:
            end = HEAD_BYTES + length_in(self._buffer, MOST_REPLY)
            if len(self._buffer) < end:
                break
            messages.append(_loaded(bytes(self._buffer[HEAD_BYTES:end])))
            del self._buffer[:end]
        return messages

    def how_it_ended(self) -> str:
        """Explain why the process will send nothing more."""
        raise NotImplementedError

    def end(self) -> None:
        """End the process and everything in it."""
        raise NotImplementedError


def ending(code: int, limits: CodeLimits) -> str:
    """Describe how a process ended, from its exit code; negative for a signal."""
    if code == -signal.SIGKILL:
        reason = f"it used {limits.cpu_s} s of CPU, or the machine ran out of memory"
        return f"the code's process was killed: {reason}"
    if code < 0:
        return f"the code crashed its process ({signal.Signals(-code).name})"
    return f"the code ended its process (exit code {code})"


class Worker(Channel):
    """A process with one loaded snippet; with a process per call, the server that forks them."""

    def __init__(self, program: Program, limits: CodeLimits, *, trusted: bool) -> None:
        if os.name != "posix":
            raise RunError("user code needs Linux or macOS: assay talks to its process over their pipes")
        self.limits = limits
        self.broken: str | None = None
        self.control: socket.socket | None = None
        board: Any = bytearray(STATUS_BYTES)
        with contextlib.ExitStack() as opened:
            if program.isolation == "process":
                self.control, theirs = socket.socketpair()
                shared = opened.enter_context(theirs).fileno()
            else:
                status = opened.enter_context(tempfile.TemporaryFile())
                status.truncate(STATUS_BYTES)
                shared = status.fileno()
                board = mmap.mmap(shared, STATUS_BYTES)
            self.process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own words
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, str(_PACKAGES), str(shared)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # nobody reads it: a full pipe would stop the code
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                pass_fds=(shared,),
                # a group of its own, so that `end` reaches whatever the code started and Ctrl-C does not reach it
                start_new_session=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(self.process.stdin.fileno(), self.process.stdout.fileno(), board)
        self._boot = {
            "program": program.document(),
            "limits": asdict(limits),
            "network": program.network,
            "confined": not trusted,
            "parent": os.getpid(),
        }

    def start(self) -> None:
        """Load the snippet; `broken` holds the error if that failed. Raise RunError if it cannot be confined."""
        try:
            refused = self._exchange(orjson.dumps(self._boot), _any_answer, most_s=START_S)["refused"]
        except WorkerLost as lost:
            raise RunError(f"the process for user code did not start: {lost}") from None
        if refused is not None:
            self.end()
            raise RunError(f"code cannot be confined here: {refused}; --trust-code runs it all the same")
        try:
            most_s = max(LOAD_S, self.limits.call_s)
            self.broken = self._exchange(b"{}", _any_answer, most_s=most_s)["broken"]
        except WorkerLost as lost:
            self.broken = f"{lost}\n  (while the snippet was loaded)"

    def how_it_ended(self) -> str:
        """Explain why the worker will send nothing more."""
        try:
            return ending(self.process.wait(timeout=2), self.limits)
        except subprocess.TimeoutExpired:
            return "the code closed the pipe of its process"

    def end(self) -> None:
        """End the process, its children and everything in them."""
        if self.process.returncode is None:
            # the worker leads a group of its own, and neither it nor its children can leave it
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.control):
            if pipe is not None:
                pipe.close()


def _any_answer(message: Any) -> _Answer:
    return _Answer(last=True)


def _loaded(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # NaN and lone surrogates, which orjson does not take, are judged by whoever asked
        return json.loads(content)


def result_of(entry: Any) -> Result:
    """Convert the worker's message on how a call ended."""
    done, value, *printed = entry
    output = _storable(printed[0]) if printed else ""
    if done is True:
        return Returned(value, output)
    return CallFailed(f"{_storable(value)}\n  printed: {output[:SHOWN_PRINT]}" if output else _storable(value))


def _storable(text: Any) -> str:
    """Text that can be stored: lone surrogates are written out."""
    return str(text).encode(errors="backslashreplace").decode()
