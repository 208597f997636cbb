"""`drop_columns`: rows without some of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from assay.datasets.synthesizers.common import Made, Row, SynthesizerSpec, failed, unknown_columns
from assay.registry import BatchSynthesizerKind


class DropColumns(SynthesizerSpec):
    """Every row without the named columns."""

    type: Literal["drop_columns"]
    columns: list[str] = Field(min_length=1)


def drop_columns(settings: DropColumns, rows: Sequence[Row]) -> list[Made]:
    """Each row with what is left of it; a column that is not there is a failure, for it was surely misspelt.

    >>> drop_columns(DropColumns(type="drop_columns", columns=["b"]), [{"a": 1, "b": 2}])
    [[{'a': 1}]]
    """
    return [_without(row, settings.columns) for row in rows]


def _without(row: Row, columns: Sequence[str]) -> Made:
    absent = unknown_columns(columns, row)
    if absent:
        return failed(f'there is no column "{absent[0]}" to drop; there is {", ".join(row) or "none"}')
    return [{name: value for name, value in row.items() if name not in columns}]


KIND = BatchSynthesizerKind(settings=DropColumns, synthesize=drop_columns)
