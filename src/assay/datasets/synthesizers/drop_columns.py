"""`drop_columns`: rows without some of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec
from assay.registry import BatchSynthesizerKind


class DropColumns(SynthesizerSpec):
    """Every row without the named columns."""

    type: Literal["drop_columns"]
    columns: list[str] = Field(min_length=1)


def drop_columns(settings: DropColumns, rows: Sequence[Row]) -> list[SynthesizedRows]:
    """Remove columns from each row; a missing column is ignored.

    >>> drop_columns(DropColumns(type="drop_columns", columns=["b"]), [{"a": 1, "b": 2}])
    [[{'a': 1}]]
    """
    dropped = frozenset(settings.columns)
    return [[{name: value for name, value in row.items() if name not in dropped}] for row in rows]


KIND = BatchSynthesizerKind(settings=DropColumns, synthesize=drop_columns)
