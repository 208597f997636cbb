"""`regex`: a pattern matches in the reply."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, TextScorer, looked_at, row_by_row
from assay.scorers.pattern import checked_pattern, compiled, matchable
from assay.spec.fields import Located
from assay.types import Rows, ScoreColumns


class Regex(TextScorer):
    """Whether an RE2 pattern matches anywhere in the text, or with `full_match` the whole text."""

    type: Literal["regex"]
    pattern: Located
    full_match: bool = False

    @field_validator("pattern")
    @classmethod
    def _can_be_run(cls, pattern: Located) -> Located:
        checked_pattern(pattern)
        return pattern


def regex(settings: Regex, rows: Rows) -> ScoreColumns:
    """1.0 where the pattern matches, with what it matched."""
    pattern = compiled(str(settings.pattern))
    search = pattern.fullmatch if settings.full_match else pattern.search

    def one(text: str) -> dict[str, Any]:
        match = search(matchable(text))
        return {"is_correct": 1.0 if match else 0.0, "matched": match[0] if match else None}

    return row_by_row(KIND, one, [looked_at(settings, rows)])


KIND = BatchScorerKind(
    settings=Regex,
    score=regex,
    values=("is_correct",),
    metadata=("matched",),
    ranges={"is_correct": SHARE},
)
