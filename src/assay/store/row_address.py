"""Where a row of evidence lives: run, position and slot packed into one 63-bit integer.

A single integer key keeps rows of a run together, makes writing them an append, and forbids a row twice
without a second index. Slot 0 is the sample itself; slot k is what the k-th scorer says of it.
"""

from __future__ import annotations

_SLOT_BITS = 7
_POSITION_BITS = 36
_RUN_SHIFT = _SLOT_BITS + _POSITION_BITS

MAX_SLOTS = 1 << _SLOT_BITS
MAX_POSITIONS = 1 << _POSITION_BITS
STEP = 1 << _SLOT_BITS
"""How far two neighbouring positions lie apart."""


def pack(run_no: int, position: int, slot: int = 0) -> int:
    """The key of one row.

    >>> unpack(pack(3, 41, 2))
    (3, 41, 2)
    """
    return run_no << _RUN_SHIFT | position << _SLOT_BITS | slot


def unpack(key: int) -> tuple[int, int, int]:
    """Run, position and slot of a key."""
    return key >> _RUN_SHIFT, key >> _SLOT_BITS & MAX_POSITIONS - 1, key & MAX_SLOTS - 1


def bounds(run_no: int) -> tuple[int, int]:
    """The first key of a run and the first key after it."""
    return run_no << _RUN_SHIFT, (run_no + 1) << _RUN_SHIFT
