"""Shared parts of synthesizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from assay.spec.fields import Settings
from assay.types import Failure, FailureKind

Row = dict[str, Any]
SynthesizedRows = list[Row] | Failure
"""The rows synthesized from one row, or its failure."""


class SynthesizerSpec(Settings):
    """The settings that every synthesizer accepts."""

    kind_sort: ClassVar[str] = "synthesizer"
    type: str


def failed(detail: str, kind: FailureKind = "template") -> Failure:
    """Build the result of a row that failed."""
    return Failure(stage="generate", kind=kind, detail=detail)


def unknown_columns(columns: Sequence[str], row: Row) -> list[str]:
    """The columns that a row lacks."""
    return [name for name in columns if name not in row]
