"""Columns of a million samples in tens of megabytes: ids in one buffer, labels as codes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import numpy.typing as npt

from assay.stats.clusters import IntArray

MISSING = -1


class PackedTexts(Sequence[str]):
    """Texts in one buffer: an id of eight letters takes 16 bytes instead of 57 as a string object.

    >>> packed = PackedTexts(["a", "bc", ""])
    >>> packed[1], list(packed), len(packed)
    ('bc', ['a', 'bc', ''], 3)
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._buffer = bytearray()
        self._ends = array("q")
        self.extend(texts)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts at the end."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64) + len(self._buffer)
        self._buffer += b"".join(encoded)
        self._ends.frombytes(ends.tobytes())

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> list[str]: ...

    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        row %= len(self)
        return self._buffer[self._ends[row - 1] if row else 0 : self._ends[row]].decode()

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self._ends:
            yield self._buffer[start:end].decode()
            start = end

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PackedTexts):
            return self._ends == other._ends and self._buffer == other._buffer
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]


class LateTexts(Sequence[str]):
    """Texts that are read on first access.

    >>> late = LateTexts(2, lambda: [["a"], ["b"]])
    >>> len(late), late[1]
    (2, 'b')
    """

    def __init__(self, size: int, pages: Callable[[], Iterable[Iterable[str]]]) -> None:
        self._size = size
        self._pages = pages
        self._texts: PackedTexts | None = None

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> list[str]: ...

    def __getitem__(self, row: int | slice) -> str | list[str]:
        if self._texts is None:
            self._texts = PackedTexts()
            for page in self._pages():
                self._texts.extend(page)
        return self._texts[row]


@dataclass(slots=True)
class Labels:
    """One label per row as a code, `MISSING` where a row has none; codes count in the order of first appearance."""

    codes: npt.NDArray[np.integer]
    names: tuple[str, ...]

    def present(self, rows: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of some rows have a label."""
        return np.asarray(self.codes[rows] != MISSING)


@dataclass(slots=True)
class LabelsBuilder:
    """Collects the labels of rows, page by page."""

    _codes: array[int] = field(default_factory=lambda: array("i"))
    _code_of: dict[str, int] = field(default_factory=dict)

    def extend(self, labels: Iterable[str | None]) -> None:
        """Add the labels of further rows."""
        code_of = self._code_of
        self._codes.extend(MISSING if label is None else code_of.setdefault(label, len(code_of)) for label in labels)

    def extend_without(self, rows: int) -> None:
        """Add rows that have no label."""
        self._codes.extend(array("i", [MISSING]) * rows)

    def build(self) -> Labels:
        """The labels of all rows."""
        return Labels(codes=np.array(self._codes, dtype=np.int32), names=tuple(self._code_of))


def compact(codes: npt.NDArray[np.integer]) -> IntArray:
    """Codes renamed to 0, 1, 2, ... in the order in which they first appear.

    >>> compact(np.array([7, 2, 7, 9])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])


@dataclass(slots=True)
class RowIndex:
    """Finds rows by their ids, through a sorted column of hashes."""

    ids: Sequence[str]
    _hashes: IntArray
    _order: IntArray

    @classmethod
    def of(cls, ids: Sequence[str]) -> RowIndex:
        """Index some ids, each of which occurs once."""
        hashes = np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids))
        order = np.argsort(hashes)
        return cls(ids, hashes[order], order)

    def find(self, text: str) -> int | None:
        """Return the row that has an id, or None."""
        start, end = (int(np.searchsorted(self._hashes, hash(text), side)) for side in ("left", "right"))
        return next((row for row in self._order[start:end].tolist() if self.ids[row] == text), None)

    def rows_of(self, texts: Sequence[str]) -> IntArray:
        """The row of each of many ids, `MISSING` for those that no row has."""
        hashes = np.fromiter(map(hash, texts), dtype=np.int64, count=len(texts))
        if bool((self._hashes[1:] == self._hashes[:-1]).any()):
            # two ids with one hash of 64 bits: once in millions of runs, and then by comparing the ids themselves
            row_of: Mapping[str, int] = {text: row for row, text in enumerate(self.ids)}
            return np.fromiter((row_of.get(text, MISSING) for text in texts), dtype=np.int64, count=len(texts))
        if not len(self._hashes):
            return np.full(len(texts), MISSING, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[places] == hashes, self._order[places], MISSING)
