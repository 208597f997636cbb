"""`numeric_equals`: the number in the reply equals the expected one."""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, RowFailureError, TextScorer, looked_at, row_by_row
from assay.scorers.ground_truth import ground_truths
from assay.scorers.numbers import close, last_number, one_number
from assay.scorers.pattern import checked_pattern, compiled, matchable
from assay.spec.fields import Located, Template
from assay.types import Rows, ScoreColumns


class NumericEquals(TextScorer):
    """Whether the last number of the text, or of the last match of `pattern`, equals the number in the ground truth."""

    type: Literal["numeric_equals"]
    ground_truth: Template
    pattern: Located | None = None
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0

    @field_validator("pattern")
    @classmethod
    def _can_be_run(cls, pattern: Located | None) -> Located | None:
        if pattern is not None:
            checked_pattern(pattern)
        return pattern


def numeric_equals(settings: NumericEquals, rows: Rows) -> ScoreColumns:
    """Score 1.0 if the two numbers differ by at most the tolerance; an answer without a number is wrong."""
    tolerance = Decimal(repr(settings.tolerance))
    pattern = None if settings.pattern is None else str(settings.pattern)

    def one(truth: str, text: str) -> dict[str, Any]:
        # a ground truth is often the bare number, in which the pattern finds nothing
        marked = _marked(truth, pattern)
        try:
            expected = one_number(truth if marked is None else marked)
        except ValueError as error:
            raise RowFailureError(f'the ground truth "{truth[:100]}" {error}') from error
        part = _marked(text, pattern)
        actual = None if part is None else last_number(part)
        return {
            "is_correct": 1.0 if actual is not None and close(expected, actual, tolerance) else 0.0,
            "answer_gt": str(expected),
            "answer_pred": None if actual is None else str(actual),
            "number_found": actual is not None,
        }

    columns = [ground_truths(settings.ground_truth, rows), looked_at(settings, rows)]
    return row_by_row(KIND, one, columns)


def _marked(text: str, pattern: str | None) -> str | None:
    """Return the text of the pattern's last match: its first group, or all of it."""
    if pattern is None:
        return text
    last = deque(compiled(pattern).finditer(matchable(text)), maxlen=1)
    if not last:
        return None
    part: str | None = last[0][1] if last[0].re.groups else last[0][0]
    return part


KIND = BatchScorerKind(
    settings=NumericEquals,
    score=numeric_equals,
    version=2,
    values=("is_correct",),
    metadata=("answer_gt", "answer_pred", "number_found"),
    ranges={"is_correct": SHARE},
)
