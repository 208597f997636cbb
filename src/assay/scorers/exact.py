"""`string_equals`: the reply is the expected text, character by character."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from assay.registry import BatchScorerKind, StoredMetadata
from assay.scorers.common import SHARE, TextScorer, looked_at, score_columns
from assay.scorers.ground_truth import check_not_empty, ground_truths
from assay.spec.fields import Template
from assay.types import Failure, Rows, ScoreColumns

EQUAL_AFTER = "equal_after"
Step = Literal["strip", "lower", "unicode", "punctuation"]


class StringEquals(TextScorer):
    """Exact equality with the ground truth; `normalize` lists the differences to ignore on both sides."""

    type: Literal["string_equals"]
    ground_truth: Template
    normalize: list[Step] = Field(default_factory=list)
    allow_empty: bool = False

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        check_not_empty(self.ground_truth, allow_empty=self.allow_empty)
        return self


def string_equals(settings: StringEquals, rows: Rows) -> ScoreColumns:
    """Score 1.0 if the text equals the ground truth, else 0.0.

    >>> rows = Rows(positions=[0], ids=["0"], samples=[{"a": "Paris"}], answers=["Paris"])
    >>> settings = StringEquals(type="string_equals", ground_truth="{{ sample.a }}")
    >>> string_equals(settings, rows).values
    {'is_correct': [1.0]}
    """
    truth = ground_truths(settings.ground_truth, rows, allow_empty=settings.allow_empty)
    answers = looked_at(settings, rows)
    failures = {**answers.failures, **truth.failures}
    left, right = truth.values, answers.values
    for step in settings.normalize:
        even = _STEPS[step]
        left = [even(text or "") for text in left]
        right = [even(text or "") for text in right]
    columns: dict[str, list[Any]] = {
        "is_correct": [1.0 if a == b else 0.0 for a, b in zip(left, right, strict=True)],
        "answer_gt": truth.values,
        "answer_pred": answers.values,
    }
    if not {"unicode", "strip"} <= set(settings.normalize):
        near_misses = _near_misses(left, right, failures)
        if near_misses:
            columns[EQUAL_AFTER] = [near_misses.get(place) for place in range(len(left))]
    return score_columns(KIND, columns, failures)


def _near_misses(left: list[str], right: list[str], failures: Mapping[int, Failure]) -> dict[int, str]:
    """The rows that differ only in Unicode form or in blanks at the ends, with the steps that make them equal."""
    pairs = list(zip(left, right, strict=True))
    # the same few answers come again and again: each pair of texts is looked at once
    distinct = {pair for place, pair in enumerate(pairs) if place not in failures} if failures else set(pairs)
    steps_by_pair = {(a, b): _steps_between(a, b) for a, b in distinct if a != b}
    if not any(steps_by_pair.values()):
        return {}
    steps_by_row = {}
    for place, pair in enumerate(pairs):
        steps = steps_by_pair.get(pair)
        if steps is not None and place not in failures:
            steps_by_row[place] = steps
    return steps_by_row


def _steps_between(left: str, right: str) -> str | None:
    """The steps that make two different texts equal."""
    # no step changes plain text but for its ends
    if left.isascii() and right.isascii():
        return "strip" if left.strip() == right.strip() else None
    for steps in (("unicode",), ("strip",), ("unicode", "strip")):
        if _evened(left, steps) == _evened(right, steps):
            return ", ".join(steps)
    return None


def _evened(text: str, steps: Iterable[str]) -> str:
    for step in steps:
        text = _STEPS[step](text)
    return text


def near_miss_note(settings: StringEquals, metadata: StoredMetadata) -> Mapping[str, Any] | None:
    """Note how many more answers would equal their ground truth under `normalize: [unicode, strip]`."""
    n = sum(1 for _ in metadata.with_field(EQUAL_AFTER))
    if not n:
        return None
    differ, count, them = ("answer differs", "counts", "it") if n == 1 else ("answers differ", "count", "them")
    note = (
        f"{n:,} {differ} from the ground truth only in Unicode form or in blanks at the ends and {count} as wrong; "
        f"`normalize: [unicode, strip]` makes {them} equal"
    )
    return {EQUAL_AFTER: n, "warnings": [note]}


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
    version=2,
    values=("is_correct",),
    metadata=("answer_gt", "answer_pred", EQUAL_AFTER),
    ranges={"is_correct": SHARE},
    count=near_miss_note,
)
