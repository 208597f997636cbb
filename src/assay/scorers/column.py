"""`column`: the score is a number from a column of the dataset."""

from __future__ import annotations

import math
from typing import Any, Literal

from assay.registry import BatchScorerKind
from assay.scorers.common import STAGE, RowFailureError, row_by_row
from assay.spec.fields import ColumnName, ScorerSpec
from assay.types import Column, Failure, Rows, ScoreColumns


class ColumnScorer(ScorerSpec):
    """The number in a column, such as a score computed by another program."""

    type: Literal["column"]
    column: ColumnName

    def default_metrics(self) -> list[dict[str, Any]]:
        """The mean, under the name of the column."""
        return [{"type": "mean", "field": "value", "name": str(self.column)}]


def score_by_column(settings: ColumnScorer, rows: Rows) -> ScoreColumns:
    """Return the number of each row; a row without a number fails."""
    name = str(settings.column)

    def one(value: Any) -> dict[str, Any]:
        if value is None or value == "":
            raise RowFailureError(f'"{name}" is {"null" if value is None else "empty"}', "missing_field")
        return {"value": _number(name, value)}

    values = [sample.get(name) for sample in rows.samples]
    failures: dict[int, Failure] = {}
    if None in values:
        lacking = (place for place, sample in enumerate(rows.samples) if name not in sample)
        detail = f'the sample has no column "{name}"'
        failures = {place: Failure(stage=STAGE, kind="missing_field", detail=detail) for place in lacking}
    return row_by_row(KIND, one, [Column(values=values, failures=failures)])


def _number(name: str, value: Any) -> float:
    try:
        # text, because a CSV column with one empty cell is text as a whole
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise RowFailureError(f'"{name}" is {str(value)[:80]!r}; expected a finite number')
    return number


KIND = BatchScorerKind(settings=ColumnScorer, score=score_by_column, values=("value",))
