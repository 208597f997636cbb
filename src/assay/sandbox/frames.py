"""Messages over a pipe: four bytes of length, then JSON.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

MOST_BYTES = 1 << 30
_HEAD = struct.Struct("<I")
HEAD_BYTES = _HEAD.size


class FrameError(Exception):
    """The other side has gone, or sends what is no message."""


def framed(content: bytes) -> bytes:
    """The bytes of a message on the wire.

    >>> framed(b"{}")
    b'\\x02\\x00\\x00\\x00{}'
    """
    if len(content) > MOST_BYTES:
        raise FrameError(f"a message of {len(content):,} bytes is longer than {MOST_BYTES:,}")
    return _HEAD.pack(len(content)) + content


def length_in(head: bytes | bytearray, most: int = MOST_BYTES) -> int:
    """Return the length of the body that follows a head; raise FrameError if it exceeds `most`."""
    size = int(_HEAD.unpack_from(head)[0])
    if size > most:
        raise FrameError(f"a message of {size:,} bytes is longer than {most:,}")
    return size


def read_message(descriptor: int) -> Any:
    """The next message of a blocking pipe; None when the other side has closed it."""
    head = _exactly(descriptor, HEAD_BYTES)
    if not head:
        return None
    return json.loads(_exactly(descriptor, length_in(head)))


def _exactly(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            if parts:
                raise FrameError("the other side went away within a message")
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_message(descriptor: int, content: bytes) -> None:
    """Send a message over a blocking pipe."""
    rest = memoryview(framed(content))
    while rest:
        rest = rest[os.write(descriptor, rest) :]
