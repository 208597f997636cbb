"""The process that runs a snippet: it confines itself, then answers calls until the pipe is closed.

Only the standard library is used here and in what this file loads: nothing of the parent's comes along.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import struct
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from assay.sandbox import shims
from assay.sandbox.frames import read_message, write_message
from assay.sandbox.linux import CodeLimits, ConfinementError, bound, confine
from assay.sandbox.snippet import LoadedSnippet, Printed

FLUSH_S = 0.02
"""Results are sent at least this often while a batch runs: what a crash loses is done again."""
FLUSH_CHARACTERS = 4_000_000
STATUS = struct.Struct("<i")
STATUS_BYTES = mmap.PAGESIZE


def main(shared: int) -> None:
    """Take the pipe for ourselves, load the snippet, and answer calls.

    `shared` is the page that shows the row being run or, for calls in processes of their own, the control socket.
    """
    incoming, outgoing = _private_pipe()
    boot = read_message(incoming)
    if boot is None:
        return
    talks = boot["program"]["shape"] in ("conversation", "inference")
    forks = boot["program"]["isolation"] == "process"
    # once confined, our own files can no longer be read
    converse: Callable[[LoadedSnippet, Any, int, int], None] | None = None
    if talks:
        from assay.sandbox import conversation_worker

        converse = conversation_worker.converse
    if forks:
        from assay.sandbox.fork_server import ForkServer
    try:
        _settle(boot)
    except ConfinementError as error:
        _send(outgoing, {"refused": str(error)})
        return
    shims.install()
    printed = Printed()
    sys.stdout = sys.stderr = printed
    snippet = LoadedSnippet(boot["program"], printed, confined=boot["confined"])
    _send(outgoing, {"refused": None})
    read_message(incoming)
    _send(outgoing, {"broken": snippet.load()})
    printed.take()
    if forks:
        open_files = boot["limits"]["open_files"]
        server = ForkServer(shared, confined=boot["confined"], open_files=open_files)
        server.serve(partial(_one_call, snippet, converse))
        return
    board = mmap.mmap(shared, STATUS_BYTES)
    os.close(shared)
    if converse is not None:
        converse(snippet, board, incoming, outgoing)
        return
    while (message := read_message(incoming)) is not None:
        serve(snippet, message["rows"], board, incoming, outgoing)


def _one_call(
    snippet: LoadedSnippet, converse: Callable[[LoadedSnippet, Any, int, int], None] | None, channel: int, seed: bytes
) -> None:
    """Answer one call, or run one conversation, in a separate process."""
    from assay.sandbox.fork_server import reseed

    # a child has no neighbours: there is nobody to be told apart from on a shared page
    board = bytearray(STATUS_BYTES)
    if converse is not None:
        reseed(seed, os.urandom(16))
        converse(snippet, board, channel, channel)
        return
    message = read_message(channel)
    if message is not None:
        reseed(seed, repr(message).encode(errors="surrogatepass"))
        serve(snippet, message["rows"], board, channel, channel)


def _private_pipe() -> tuple[int, int]:
    """Move our ends of the pipe away from the standard streams that the code may use."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)
    return incoming, outgoing


def _settle(boot: Mapping[str, Any]) -> None:
    limits = CodeLimits(**boot["limits"])
    if boot["confined"]:
        forks = boot["program"]["isolation"] == "process"
        confine(limits, network=boot["network"], parent=boot["parent"], forks=forks)
        return
    # trusted code runs on machines where not every limit can be set
    with contextlib.suppress(OSError, ValueError):
        bound(limits)


def serve(snippet: LoadedSnippet, rows: list[Any], board: Any, incoming: int, outgoing: int) -> None:
    """Run a batch row by row; the board always shows the row that is being run."""
    parts: list[str] = []
    size, sent_at = 0, time.monotonic()
    for place, row in enumerate(rows):
        STATUS.pack_into(board, 0, place)
        part = snippet.run(row)
        parts.append(part)
        size += len(part)
        now = time.monotonic()
        if now - sent_at > FLUSH_S or size > FLUSH_CHARACTERS:
            _results(incoming, outgoing, parts, done=False)
            parts, size, sent_at = [], 0, time.monotonic()
    _results(incoming, outgoing, parts, done=True)


def _results(incoming: int, outgoing: int, parts: list[str], *, done: bool) -> None:
    """Send results under a token that the parent reveals only after the code has returned."""
    write_message(outgoing, b'{"ready":true}')
    token = read_message(incoming)["token"]
    head = f'{{"token":"{token}","done":{"true" if done else "false"},"cpu":{time.process_time():.3f},"results":['
    write_message(outgoing, f"{head}{','.join(parts)}]}}".encode())


def _send(outgoing: int, message: Mapping[str, Any]) -> None:
    write_message(outgoing, json.dumps(message).encode())
