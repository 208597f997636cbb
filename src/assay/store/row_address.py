"""The address of a stored row: run, position and slot packed into one 63-bit integer.

A single integer key keeps rows of a run together, makes writing them an append, and forbids a row twice
without a second index. Slot 0 is the sample itself; slot k is what the k-th scorer says of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_SLOT_BITS = 7
_POSITION_BITS = 36
_RUN_SHIFT = _SLOT_BITS + _POSITION_BITS

MAX_SLOTS = 1 << _SLOT_BITS
MAX_POSITIONS = 1 << _POSITION_BITS
STEP = 1 << _SLOT_BITS
"""The distance between two neighbouring positions."""


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


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The numbering of a run's rows: by sample, within it by trial, within it by part.

    A sample is answered `trials` times; with a postprocessor an answer may become up to `fan_out` parts. The methods
    take a position as an integer or as an expression of SQL.

    >>> RowLayout(trials=3, fan_out=1).trial(7)
    1
    """

    trials: int = 1
    fan_out: int = 1

    def cell(self, position: Any) -> Any:
        """Return the number of the answer that a row is part of: one per sample and trial."""
        return position if self.fan_out == 1 else position // self.fan_out

    def part(self, position: Any) -> Any:
        """Return the index of a row among the parts of its answer."""
        return position % self.fan_out

    def trial(self, position: Any) -> Any:
        """The trial that a row belongs to, from 0."""
        return self.cell(position) % self.trials

    def sample(self, position: Any) -> Any:
        """Return the index of the sample that a row comes from."""
        return position // (self.trials * self.fan_out)

    def sample_row(self, position: Any) -> Any:
        """Return the number of a row with its trials combined: one per sample, or per part of a sample."""
        if self.trials == 1:
            return position
        sample = self.sample(position)
        return sample if self.fan_out == 1 else sample * self.fan_out + self.part(position)

    def first_position(self, cell: int) -> int:
        """The position of the first part of an answer."""
        return cell * self.fan_out


ONE_ROW = RowLayout()
"""One row per sample: no trials, no postprocessor."""
