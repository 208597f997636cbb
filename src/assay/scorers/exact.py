"""`string_equals`: the reply is the expected text, character by character."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from pydantic import Field

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, STAGE, TextScorer, looked_at, score_columns
from assay.spec.fields import Template
from assay.templates import texts
from assay.types import Rows, ScoreColumns

Step = Literal["strip", "lower", "unicode", "punctuation"]


class StringEquals(TextScorer):
    """Exact equality with the ground truth; `normalize` names what is evened out on both sides first."""

    type: Literal["string_equals"]
    ground_truth: Template
    normalize: list[Step] = Field(default_factory=list)


def string_equals(settings: StringEquals, rows: Rows) -> ScoreColumns:
    """1.0 where the text equals the ground truth, 0.0 where it does not.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"a": "Paris"}], answers=["Paris"])
    >>> settings = StringEquals(type="string_equals", ground_truth="{{ sample.a }}")
    >>> string_equals(settings, rows).values
    {'is_correct': [1.0]}
    """
    truth = texts(settings.ground_truth, rows, stage=STAGE)
    found = looked_at(settings, rows)
    failures = {**found.failures, **truth.failures}
    left, right = truth.values, found.values
    for step in settings.normalize:
        even = _STEPS[step]
        left = [even(text or "") for text in left]
        right = [even(text or "") for text in right]
    return score_columns(
        KIND,
        {
            "is_correct": [1.0 if a == b else 0.0 for a, b in zip(left, right, strict=True)],
            "answer_gt": truth.values,
            "answer_pred": found.values,
        },
        failures,
    )


@lru_cache(maxsize=1)
def _punctuation() -> dict[int, None]:
    """Every character that Unicode calls punctuation, for str.translate."""
    every = range(sys.maxunicode + 1)
    return {code: None for code in every if unicodedata.category(chr(code)).startswith("P")}


_STEPS: dict[str, Callable[[str], str]] = {
    "strip": str.strip,
    "lower": str.lower,
    "unicode": lambda text: unicodedata.normalize("NFKC", text),
    "punctuation": lambda text: text.translate(_punctuation()),
}

KIND = BatchScorerKind(
    settings=StringEquals,
    score=string_equals,
    values=("is_correct",),
    metadata=("answer_gt", "answer_pred"),
    ranges={"is_correct": SHARE},
)
