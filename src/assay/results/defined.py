"""The definitions in a run file without an evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinedPart:
    """One definition in a run file: its kind, key and location."""

    kind: str
    key: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeDataset:
    """A generated dataset of a run file: its number of rows, and whether they were generated just now."""

    key: str
    file: Path
    n_rows: int
    made_now: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """All definitions in a run file, with the rows of its generated datasets."""

    file: Path
    parts: tuple[DefinedPart, ...]
    datasets: tuple[MadeDataset, ...]
