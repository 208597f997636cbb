"""Differences between runs over the samples that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from assay.results.display import render
from assay.results.run import SampleCounts
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.paired import Paired, Verdict
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRun:
    """A run and its letter in a comparison; A is the baseline.

    `settings` are those of its task's parameters and of the run in which it differs from the other runs.
    """

    letter: str
    run: str
    task: str
    model: str | None
    name: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """The samples that two runs share, by id and content; `against` is the letter of the run on the left."""

    letter: str
    n_common: int
    against: str = "A"
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    other_content: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A sample whose value changed."""

    sample_id: str
    before: float
    after: float


CHUNK = 10_000


class Flips(Sequence[Flip]):
    """The samples whose number changed, in the order of the baseline; a million take columns and not objects."""

    def __init__(self, ids: Sequence[str], rows: IntArray, before: FloatArray, after: FloatArray) -> None:
        self._ids = ids
        self._rows = rows
        self._before = before
        self._after = after

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Flip: ...

    @overload
    def __getitem__(self, place: slice) -> Flips: ...

    def __getitem__(self, place: int | slice) -> Flip | Flips:
        if isinstance(place, slice):
            return Flips(self._ids, self._rows[place], self._before[place], self._after[place])
        row = int(self._rows[place])
        return Flip(sample_id=self._ids[row], before=float(self._before[place]), after=float(self._after[place]))

    def __iter__(self) -> Iterator[Flip]:
        for start in range(0, len(self), CHUNK):
            chunk = slice(start, start + CHUNK)
            columns = (self._rows[chunk].tolist(), self._before[chunk].tolist(), self._after[chunk].tolist())
            for row, before, after in zip(*columns, strict=True):
                yield Flip(sample_id=self._ids[row], before=before, after=after)

    @property
    def up(self) -> Flips:
        """Those whose number rose."""
        return self._some(np.flatnonzero(self._after > self._before))

    @property
    def down(self) -> Flips:
        """Those whose number fell."""
        return self._some(np.flatnonzero(self._after < self._before))

    def greatest_losses(self, most: int) -> Flips:
        """At most so many, those whose number fell furthest first."""
        return self._some(np.argsort(self._after - self._before, kind="stable")[:most])

    def _some(self, places: IntArray) -> Flips:
        return Flips(self._ids, self._rows[places], self._before[places], self._after[places])


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The difference in one group or criterion; its chance is adjusted for the length of the table."""

    name: str
    found: Paired
    p_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One metric of a run compared with the baseline; `apart` is the verdict without a margin.

    `against` is the letter of the baseline: A, or the earlier run of each pair where all pairs are compared.

    The counts are of the samples that both runs have; INVALID replies are counted over the whole run.
    """

    letter: str
    address: str
    against: str = "A"
    before: MetricValue
    after: MetricValue
    found: Paired
    p_adjusted: float | None
    verdict: Verdict
    n_to_decide: int | None
    flips: Flips
    failed_before: int = 0
    failed_after: int = 0
    groups: tuple[Part, ...] = ()
    criteria: tuple[Part, ...] = ()
    in_points: bool = True
    apart: Verdict = "no clear difference"
    counts_before: SampleCounts = field(default_factory=lambda: SampleCounts(n=0))
    counts_after: SampleCounts = field(default_factory=lambda: SampleCounts(n=0))
    range_known: bool = False

    @property
    def n_changed(self) -> int:
        """Return the number of samples whose value changed."""
        return self.found.wins + self.found.losses


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """Runs compared with a baseline: one difference per metric and run in `compared`, with a verdict in words.

    With `all_pairs` every run is compared with every earlier one, and none of them is the baseline.
    """

    runs: tuple[NamedRun, ...]
    matching: tuple[Matching, ...]
    compared: tuple[Compared, ...]
    level: float = 0.95
    margin: float | None = None
    all_pairs: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def is_worse(self) -> bool:
        """Return whether a run is clearly worse than the baseline in any metric."""
        return not self.all_pairs and any(compared.verdict == "worse" for compared in self.compared)

    def __getitem__(self, address: str) -> Compared:
        """Return the first comparison of a metric, by its address or the ending of it."""
        for compared in self.compared:
            if compared.address == address or compared.address.endswith(f"/{address}"):
                return compared
        raise KeyError(address)

    def __repr__(self) -> str:
        """The table that `assay compare` prints."""
        return str(render(self, "text"))

    def _repr_html_(self) -> str:
        """The forest plot and the verdicts that a notebook shows."""
        return str(render(self, "html"))

    def to_dict(self) -> dict[str, Any]:
        """The object that `assay compare --json` prints."""
        document: dict[str, Any] = render(self, "json")
        return document
