"""What synthesizers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from assay.spec.fields import Settings
from assay.types import Failure, FailureKind

Row = dict[str, Any]
SynthesizedRows = list[Row] | Failure
"""What became of one row."""


class SynthesizerSpec(Settings):
    """What every synthesizer accepts."""

    kind_sort: ClassVar[str] = "synthesizer"
    type: str


def failed(detail: str, kind: FailureKind = "template") -> Failure:
    """A row that nothing could be made of."""
    return Failure(stage="generate", kind=kind, detail=detail)


def unknown_columns(columns: Sequence[str], row: Row) -> list[str]:
    """The columns that a row lacks."""
    return [name for name in columns if name not in row]
