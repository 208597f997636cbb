"""The parent's side of a call in its own process, forked from a server and ended after the call."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import threading
from typing import Any

from assay.sandbox.process import Channel, Worker, WorkerLost, ending
from assay.sandbox.worker import STATUS_BYTES

ANSWER_S = 10.0
"""A server does nothing but fork and wait; one that is silent for so long is lost."""
MOST_ENDED = 100
_STILL_ENDING = 4
_MOST_ANSWER = 1 << 16


class Server:
    """The fork server of a snippet, which any thread may ask for a child."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._lock = threading.Lock()
        self._ended: list[int] = []

    def fork(self) -> Forked:
        """Fork a pristine child with its own channel; raise WorkerLost if the server has ended."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                with self._lock:
                    # those killed last may not be gone yet: waiting for them would hold up this fork
                    reap, self._ended = self._ended[:-_STILL_ENDING], self._ended[-_STILL_ENDING:]
                    answer = self._asked({"reap": reap}, theirs)
                pid = int(answer["pid"])
                # signals go to children of this server and to nobody else, whatever the server answers
                if os.getpgid(pid) != self.worker.process.pid:
                    raise ValueError("no child of the server")
                self.worker.cpu_s = float(answer["cpu"])
            except (OSError, ValueError, LookupError, TypeError) as error:
                ours.close()
                raise WorkerLost(f"the fork server does not answer: {error or type(error).__name__}", 0) from None
        return Forked(self, pid, ours)

    def wait(self, pid: int) -> int | None:
        """Return a child's exit code, waiting briefly; None if the server does not report it."""
        try:
            with self._lock:
                answer = self._asked({"reap": [pid]})
            return os.waitstatus_to_exitcode(int(answer["ended"][str(pid)]))
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def forget(self, pid: int) -> None:
        """Have the server wait for a child that was killed, with the next order."""
        with self._lock:
            self._ended.append(pid)
            if len(self._ended) < MOST_ENDED:
                return
            ended, self._ended = self._ended, []
            with contextlib.suppress(OSError, ValueError):
                self._asked({"reap": ended})

    def _asked(self, order: dict[str, Any], channel: socket.socket | None = None) -> Any:
        control = self.worker.control
        assert control is not None
        control.settimeout(ANSWER_S)
        content = json.dumps(order).encode()
        if channel is None:
            control.sendall(content)
        else:
            socket.send_fds(control, [content], [channel.fileno()])
        answer = b""
        while not answer.endswith(b"\n"):
            part = control.recv(_MOST_ANSWER)
            if not part or len(answer) > _MOST_ANSWER:
                raise OSError(self.worker.how_it_ended())
            answer += part
        return json.loads(answer)


class Forked(Channel):
    """A child of a fork server that runs one call or leads one conversation."""

    def __init__(self, server: Server, pid: int, channel: socket.socket) -> None:
        super().__init__(channel.fileno(), channel.fileno(), bytearray(STATUS_BYTES))
        self._server = server
        self._pid = pid
        self._socket = channel
        self._running = True

    def how_it_ended(self) -> str:
        """Explain why the child will send nothing more."""
        if not self._running or not self._exited():
            self.end()
            return "the code closed the pipe of its process"
        self._running = False
        code = self._server.wait(self._pid)
        if code is None:
            return "the code's process was lost"
        return ending(code, self._server.worker.limits)

    def _exited(self) -> bool:
        """Return whether the process has ended, or does so within a moment."""
        try:
            watched = os.pidfd_open(self._pid)
        except (AttributeError, OSError):
            return True
        try:
            return bool(select.select([watched], [], [], 1.0)[0])
        finally:
            os.close(watched)

    def end(self) -> None:
        """End the process and everything in it."""
        if self._running:
            self._running = False
            with contextlib.suppress(OSError):
                if os.getpgid(self._pid) == self._server.worker.process.pid:
                    os.kill(self._pid, signal.SIGKILL)
            self._server.forget(self._pid)
        self._socket.close()
