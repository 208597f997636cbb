"""What a run file without an evaluation defines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinedPart:
    """Something that a run file defines: what it is, its key, and where it stands."""

    kind: str
    key: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeDataset:
    """A generated dataset of a run file: how many rows it has, and whether they were made just now."""

    key: str
    file: Path
    n_rows: int
    made_now: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined:
    """Everything that a run file defines, and the rows of its generated datasets."""

    file: Path
    parts: tuple[DefinedPart, ...]
    datasets: tuple[MadeDataset, ...]
