"""The fork server inside a worker: the snippet is loaded once, and every call runs in a fork that then ends.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from assay.sandbox.linux import child_filter, confine_child

MOST_ORDER = 1 << 16
_CHANNEL = 3


class ForkServer:
    """Forks a child for every channel that comes over the control socket, and waits for those that have ended."""

    def __init__(self, control: int, *, confined: bool, open_files: int) -> None:
        self._control = socket.socket(fileno=control)
        self._confined = confined
        if confined:
            child_filter()
        self._open_files = open_files
        self._opened: list[int] = []
        self._pid = os.getpid()

    def serve(self, run: Callable[[int, bytes], None]) -> None:
        """Answer orders until the parent closes the socket; `run` gets a child's channel and a seed."""
        seed = _seed_after_loading()
        self._opened = [number for number in range(_CHANNEL, self._open_files) if _is_open(number)]
        # what the collector does not touch stays shared between the server and its children
        gc.collect()
        gc.freeze()
        while True:
            message, channels, _, _ = socket.recv_fds(self._control, MOST_ORDER, 1)
            if not message:
                return
            ended = {str(pid): os.waitpid(pid, 0)[1] for pid in json.loads(message)["reap"]}
            pid = self._forked(channels[0], run, seed) if channels else 0
            answer = {"pid": pid, "ended": ended, "cpu": time.process_time()}
            self._control.sendall(json.dumps(answer).encode() + b"\n")

    def _forked(self, channel: int, run: Callable[[int, bytes], None], seed: bytes) -> int:
        pid = os.fork()
        if pid:
            os.close(channel)
            return pid
        # a child never returns into the loop of the server, whatever happens
        try:
            self._control.detach()
            if channel != _CHANNEL:
                os.dup2(channel, _CHANNEL, inheritable=False)
            # the pipes of the server, and all that loading opened: another call could be reached through it
            for descriptor in {channel, *self._opened} - {_CHANNEL}:
                os.close(descriptor)
            if self._confined:
                confine_child(server=self._pid)
            run(_CHANNEL, seed)
        finally:
            os._exit(0)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _seed_after_loading() -> bytes:
    """Drawn from the generators that loading may have seeded, so that a seeded snippet stays reproducible."""
    drawn = []
    for name, draw in (("random", "getrandbits"), ("numpy.random", "bytes")):
        module = sys.modules.get(name)
        with contextlib.suppress(Exception):
            drawn.append(repr(getattr(module, draw)(8)))
    return hashlib.blake2b("".join(drawn).encode() if drawn else os.urandom(16)).digest()


def reseed(seed: bytes, row: bytes) -> None:
    """Seed a child's random generators from the seed and its row: all forks would otherwise draw the same numbers."""
    drawn = int.from_bytes(hashlib.blake2b(row, key=seed, digest_size=8).digest(), "little")
    for name, value in (("random", drawn), ("numpy.random", drawn & 0xFFFFFFFF)):
        module: Any = sys.modules.get(name)
        with contextlib.suppress(Exception):
            module.seed(value)
