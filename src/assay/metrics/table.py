"""The scores of one scorer in compact columns: what a metric works on.

A million samples with a handful of different values are four million bytes of codes and a few Python
objects; a column of many different numbers is an array of floats.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import Problem, SpecError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Row = Mapping[str, Any]

MISSING = -1
# Beyond this many different numbers, eight bytes a row are less than the objects they are made of.
MOST_DISTINCT_NUMBERS = 10_000
# Combinations of values are counted in a table of this size at most, this many rows at a time.
MOST_COMBINATIONS = 100_000
CHUNK = 50_000


class TextAmongNumbers(SpecError):
    """A field has numbers in some samples and text in others, so the metric cannot be computed."""

    def __init__(self, field: str, problem: Problem) -> None:
        self.field = field
        super().__init__(problem)


@dataclass(frozen=True)
class TableColumn:
    """One field of all rows: codes into `distinct` (-1 is missing), or plain `floats` (NaN is missing)."""

    codes: npt.NDArray[np.int32] | None = None
    distinct: tuple[Any, ...] = ()
    floats: FloatArray | None = None

    @cached_property
    def present(self) -> BoolArray:
        """Return which rows have a value."""
        return np.isfinite(self._floats()) if self.codes is None else self.codes >= 0

    def numbers(self, name: str) -> FloatArray:
        """Return the values as numbers, booleans as 1 and 0, NaN where missing; text raises an error that quotes it."""
        if self.codes is None:
            return self._floats()
        used = set(np.unique(self.codes).tolist())
        present = [value for code, value in enumerate(self.distinct) if code in used]
        texts = [value for value in present if isinstance(value, str)]
        if texts:
            message = f'the field "{name}" holds text ("{min(texts)}"), but this metric needs numbers'
            problem = Problem(message=message, place=getattr(name, "place", None))
            raise SpecError(problem) if len(texts) == len(present) else TextAmongNumbers(name, problem)
        numbers = [math.nan if isinstance(value, str) else float(value) for value in self.distinct]
        return np.array([*numbers, math.nan])[self.codes]

    def texts(self) -> tuple[IntArray, tuple[str, ...]]:
        """The values as codes into their distinct texts, sorted; -1 where missing.

        Values that print alike, such as 1 and "1", are the same text.
        """
        codes, values = self._coded()
        used = np.unique(codes[codes >= 0]).tolist()
        names = sorted({str(values[code]) for code in used})
        place = {name: code for code, name in enumerate(names)}
        renamed = np.full(len(values) + 1, MISSING, dtype=np.int64)
        for code in used:
            renamed[code] = place[str(values[code])]
        return renamed[codes], tuple(names)

    def take(self, mask: BoolArray) -> TableColumn:
        """This column with some of the rows."""
        if self.codes is None:
            return TableColumn(floats=self._floats()[mask])
        return TableColumn(codes=self.codes[mask], distinct=self.distinct)

    def _coded(self) -> tuple[npt.NDArray[np.integer], tuple[Any, ...]]:
        if self.codes is not None:
            return self.codes, self.distinct
        values, codes = np.unique(self._floats(), return_inverse=True)
        return np.where(self.present, codes, MISSING), tuple(values.tolist())

    def _floats(self) -> FloatArray:
        assert self.floats is not None
        return self.floats


@dataclass(frozen=True)
class Table:
    """The scores of one scorer: columns, group labels, clusters, declared ranges, and the names of all fields.

    `scores` are the values and the metadata as they are, for metrics that read more than columns.
    """

    n: int
    columns: Mapping[str, TableColumn]
    labels: Mapping[str, TableColumn] = field(default_factory=dict)
    clusters: IntArray | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    seen: tuple[str, ...] = ()
    scores: Sequence[tuple[Row, Row]] | None = None

    def column(self, name: str) -> TableColumn:
        """The column of a field."""
        return self.columns[name]

    def distinct(self, *fields: str) -> tuple[Table, IntArray | None]:
        """The distinct combinations of some fields and how often each occurs; all rows, and None, if too many.

        A million samples with two values are two rows. Rows in clusters are not put together.
        """
        parts = [self.columns[name] for name in fields]
        sizes = [len(part.distinct) + 1 for part in parts if part.codes is not None]
        if self.clusters is not None or len(sizes) < len(parts) or math.prod(sizes) > MOST_COMBINATIONS:
            return self, None
        counted = np.zeros(math.prod(sizes), dtype=np.int64)
        for start in range(0, self.n, CHUNK):
            place = np.zeros(min(CHUNK, self.n - start), dtype=np.int64)
            for part, size in zip(parts, sizes, strict=True):
                assert part.codes is not None
                # one number for a combination, in mixed radix; a missing value is code -1, so 1 is added
                place = place * size + (part.codes[start : start + CHUNK] + 1)
            counted += np.bincount(place, minlength=len(counted))
        cells = np.flatnonzero(counted)
        codes = (code.astype(np.int32) - 1 for code in np.unravel_index(cells, sizes))
        columns = {
            name: TableColumn(codes=code, distinct=part.distinct)
            for name, part, code in zip(fields, parts, codes, strict=True)
        }
        return Table(n=len(cells), columns=columns, ranges=self.ranges, seen=self.seen), counted[cells]

    def take(self, mask: BoolArray) -> Table:
        """This table with some of the rows."""
        return Table(
            n=int(mask.sum()),
            columns={name: column.take(mask) for name, column in self.columns.items()},
            labels={name: column.take(mask) for name, column in self.labels.items()},
            clusters=None if self.clusters is None else self.clusters[mask],
            ranges=self.ranges,
            seen=self.seen,
            scores=None if self.scores is None else [self.scores[i] for i in np.flatnonzero(mask).tolist()],
        )


class _Coder:
    """Builds one column; values of different types stay different (1, 1.0 and True are three values)."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._floats: array[float] | None = None
        self._distinct: list[Any] = []
        self._by_type: dict[type, dict[Any, int]] = {}
        self._only_numbers = True

    def extend(self, values: list[Any]) -> None:
        kinds = set(map(type, values))
        if not kinds <= _SIMPLE:
            values = [value if type(value) in _SIMPLE else str(value) for value in values]
            kinds = set(map(type, values))
        if self._floats is not None:
            if kinds <= _NUMBERS:
                self._floats.extend(map(_as_float, values))
                return
            self._back_to_codes()
        for kind in kinds:
            self._learn(kind, {value for value in values if type(value) is kind} if len(kinds) > 1 else set(values))
        if len(kinds) == 1:
            self._codes.extend(map(self._by_type[kinds.pop()].__getitem__, values))
        else:
            codes = self._by_type
            self._codes.extend(codes[type(value)][value] for value in values)
        # codes save memory only while values repeat
        if self._only_numbers and len(self._distinct) > MOST_DISTINCT_NUMBERS:
            self._to_floats()

    def _learn(self, kind: type, fresh: set[Any]) -> None:
        codes = self._by_type.setdefault(kind, {})
        self._only_numbers = self._only_numbers and kind in _NUMBERS
        for value in fresh - codes.keys():
            if kind in _NUMBERS and math.isnan(_as_float(value)):
                codes[value] = MISSING
            else:
                codes[value] = len(self._distinct)
                self._distinct.append(value)

    def _to_floats(self) -> None:
        numbers = np.array([*map(float, self._distinct), math.nan])
        self._floats = array("d", numbers[np.frombuffer(self._codes, dtype=np.int32)].tobytes())
        self._codes, self._distinct, self._by_type = array("i"), [], {}

    def _back_to_codes(self) -> None:
        assert self._floats is not None
        values, self._floats, self._only_numbers = list(self._floats), None, False
        # text came after many numbers: the column starts anew, and NaN is what stood for a missing value
        self.extend([None if math.isnan(value) else value for value in values])

    def build(self) -> TableColumn:
        if self._floats is not None:
            return TableColumn(floats=np.array(self._floats))
        return TableColumn(codes=np.array(self._codes, dtype=np.int32), distinct=tuple(self._distinct))


_SIMPLE = {float, int, bool, str, type(None)}
_NUMBERS = {float, int, bool, type(None)}


def _as_float(value: float | None) -> float:
    """Convert a value to a float; NaN for missing values, infinity, and integers too large for a float."""
    try:
        return float(value) if value is not None and math.isfinite(value) else math.nan
    except OverflowError:
        return math.nan


class TableBuilder:
    """Collects the fields that metrics read, batch by batch, and forgets the rest; all of it when `whole`.

    >>> builder = TableBuilder(["is_correct"])
    >>> builder.add([{"is_correct": 1.0}, {"is_correct": 0.0}], [{}, {}])
    >>> builder.build().column("is_correct").numbers("is_correct").tolist()
    [1.0, 0.0]
    """

    def __init__(
        self,
        fields: Iterable[str],
        labels: Iterable[str] = (),
        *,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        whole: bool = False,
    ) -> None:
        self._scores: list[tuple[Row, Row]] | None = [] if whole else None
        self._columns = {str(name): _Coder() for name in fields}
        self._labels = {str(name): _Coder() for name in labels}
        self._ranges = dict(ranges or {})
        self._seen: set[str] = set()
        self._clusters: array[int] | None = None
        self._n = 0

    def add(
        self,
        values: Sequence[Row],
        metadata: Sequence[Row],
        labels: Mapping[str, Sequence[str | None]] | None = None,
        clusters: Sequence[int] | None = None,
    ) -> None:
        """Add a batch of scores; a field is looked up in the values, then in the metadata.

        Cluster ids are not negative; a batch without them is of rows that stand for themselves.
        """
        self._seen.update(*values, *metadata)
        if self._scores is not None:
            self._scores += zip(values, metadata, strict=True)
        for name, column in self._columns.items():
            column.extend(_look_up(name, values, metadata))
        for source, coder in self._labels.items():
            column_labels = (labels or {}).get(source)
            coder.extend([None] * len(values) if column_labels is None else list(column_labels))
        if clusters is not None and self._clusters is None:
            self._clusters = array("q", _alone(0, self._n))
        if self._clusters is not None:
            self._clusters.extend(_alone(self._n, len(values)) if clusters is None else clusters)
        self._n += len(values)

    def build(self) -> Table:
        """The table of all batches."""
        return Table(
            n=self._n,
            columns={name: coder.build() for name, coder in self._columns.items()},
            labels={name: coder.build() for name, coder in self._labels.items()},
            clusters=_unless_single(self._clusters),
            ranges=self._ranges,
            seen=tuple(sorted(self._seen)),
            scores=self._scores,
        )


def _alone(start: int, rows: int) -> range:
    """Return cluster ids for rows that are their own cluster."""
    return range(-start - 1, -start - rows - 1, -1)


def _unless_single(clusters: array[int] | None) -> IntArray | None:
    """Return the clusters, or None if each has one row, the common case, so that runs need not carry them."""
    if clusters is None:
        return None
    ids = np.array(clusters, dtype=np.int64)
    if bool(np.all(ids[1:] > ids[:-1])) or len(np.unique(ids)) == len(ids):
        return None
    return ids


def _look_up(name: str, values: Sequence[Row], metadata: Sequence[Row]) -> list[Any]:
    cells = [row.get(name) for row in values]
    if None in cells:
        pairs = zip(cells, metadata, strict=True)
        cells = [more.get(name) if value is None else value for value, more in pairs]
    return cells
