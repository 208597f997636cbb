"""`contains`: the expected text occurs in the reply."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, TextScorer, looked_at, row_by_row
from assay.scorers.ground_truth import present_texts
from assay.spec.fields import Template
from assay.types import Rows, ScoreColumns


class Contains(TextScorer):
    """Whether the text contains the substring."""

    type: Literal["contains"]
    substring: Template
    case_sensitive: bool = True

    @field_validator("substring")
    @classmethod
    def _is_something(cls, substring: Template) -> Template:
        if not substring:
            raise ValueError("the substring is empty, and so part of every text")
        return substring


def contains(settings: Contains, rows: Rows) -> ScoreColumns:
    """1.0 where the substring is in the text; a row without one fails, for an empty one is in every text."""

    def one(substring: str, text: str) -> dict[str, Any]:
        holds = substring in text if settings.case_sensitive else substring.casefold() in text.casefold()
        return {"is_correct": 1.0 if holds else 0.0, "substring": substring}

    columns = [present_texts(settings.substring, rows, "substring", allow_empty=False), looked_at(settings, rows)]
    return row_by_row(KIND, one, columns)


KIND = BatchScorerKind(
    settings=Contains,
    score=contains,
    version=2,
    values=("is_correct",),
    metadata=("substring",),
    ranges={"is_correct": SHARE},
)
