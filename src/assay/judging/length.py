"""The length penalty of a submission, and the thinking and output parts of one."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, model_serializer

from assay.errors import SpecError
from assay.models.callable_identity import callable_identity

CountFn = Callable[[str], int]
"""Counts how long a text is."""
PenaltyType = Literal["ALL", "OUTPUT_ONLY", "THINKING_ONLY"]
"""The part of a submission whose length counts."""
_THINKING = re.compile(r"<thinking>(.*?)</thinking>", re.DOTALL | re.IGNORECASE)
_OUTPUT = re.compile(r"<output>(.*?)</output>", re.DOTALL | re.IGNORECASE)


class ThinkingOutputDict(TypedDict, total=False):
    """A submission in two parts: what the model thought, and what it answered."""

    thinking: str
    output: str


ToGradeInput = str | ThinkingOutputDict
"""A submission: its text, or a mapping with `thinking` and `output`."""


class LengthPenalty(BaseModel):
    """No penalty up to `free_budget`, `penalty_at_cap` from `max_cap` on, and a curve in between.

    The length is a number of words, or what `count_fn` returns; `penalty_type` says which part of a submission that
    thinks aloud is counted.

    >>> LengthPenalty(free_budget=100, max_cap=200, penalty_at_cap=0.5, exponent=1.0).of(150)
    0.25
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    free_budget: int = 6000
    max_cap: int = 8000
    penalty_at_cap: float = 0.5
    exponent: float = 1.6
    count_fn: CountFn | None = None
    penalty_type: PenaltyType = "ALL"

    def __init__(self, free_budget: int = 6000, max_cap: int = 8000, **settings: Any) -> None:
        if not 0 <= free_budget < max_cap:
            raise SpecError(f"a length penalty needs 0 <= free_budget < max_cap, not {free_budget} and {max_cap}")
        for name in ("penalty_at_cap", "exponent"):
            number = settings.get(name, 1.0)
            if not (math.isfinite(number) and number > 0):
                raise SpecError(f"{name} must be a positive number, not {number}")
        super().__init__(free_budget=free_budget, max_cap=max_cap, **settings)

    @model_serializer
    def _as_stored(self) -> dict[str, Any]:
        """The settings as a run stores them; what is newer than the format is left out at its default."""
        stored: dict[str, Any] = {
            name: getattr(self, name) for name in ("free_budget", "max_cap", "penalty_at_cap", "exponent")
        }
        if self.count_fn is not None:
            stored["count_fn"] = callable_identity(self.count_fn).digest
        if self.penalty_type != "ALL":
            stored["penalty_type"] = self.penalty_type
        return stored

    def of(self, words: int) -> float:
        """Return the penalty for this number of words."""
        if words <= self.free_budget:
            return 0.0
        if words >= self.max_cap:
            return self.penalty_at_cap
        part = (words - self.free_budget) / (self.max_cap - self.free_budget)
        return float(self.penalty_at_cap * part**self.exponent)

    def length(self, submission: ToGradeInput) -> int:
        """Return the length of a submission, in the part that counts."""
        count = self.count_fn or words_in
        parts = normalize_to_grade_input(submission)
        if self.penalty_type != "ALL":
            return count(parts["output" if self.penalty_type == "OUTPUT_ONLY" else "thinking"])
        return count("\n".join(part for part in (parts["thinking"], parts["output"]) if part))


def words_in(text: str) -> int:
    """Count the words of a text: the parts between white space.

    >>> words_in("It is  Paris.\\n")
    3
    """
    return len(text.split())


def word_count(text: str) -> int:
    """Count the words of a text; AutoRubric's name of `words_in`."""
    return words_in(text)


def compute_length_penalty(text: str | ThinkingOutputDict, config: LengthPenalty) -> float:
    """Compute the length penalty of a submission.

    >>> compute_length_penalty("one two three four", LengthPenalty(free_budget=2, max_cap=6, exponent=1.0))
    0.25
    """
    return config.of(config.length(text))


def parse_thinking_output(text: str) -> ThinkingOutputDict:
    """A text with `<thinking>` and `<output>` tags in its two parts; one without tags is all output.

    >>> parse_thinking_output("<thinking>It is in France.</thinking> Paris")
    {'thinking': 'It is in France.', 'output': 'Paris'}
    """
    thinking = _THINKING.search(text)
    output = _OUTPUT.search(text)
    rest = text if thinking is None else text[: thinking.start()] + text[thinking.end() :]
    return {
        "thinking": "" if thinking is None else thinking[1].strip(),
        "output": (rest if output is None else output[1]).strip(),
    }


def normalize_to_grade_input(to_grade: ToGradeInput) -> ThinkingOutputDict:
    """A submission as a mapping with `thinking` and `output`, whatever form it has."""
    if isinstance(to_grade, str):
        if _THINKING.search(to_grade) is None and _OUTPUT.search(to_grade) is None:
            return {"thinking": "", "output": to_grade}
        return parse_thinking_output(to_grade)
    if not isinstance(to_grade, Mapping):
        raise SpecError(f'a submission is text, or a mapping with "output", not {type(to_grade).__name__}')
    unknown = sorted(map(str, to_grade.keys() - {"thinking", "output"}))
    if unknown:
        message = f'only "thinking" and "output" of a submission are used, not {", ".join(unknown)}'
        warnings.warn(message, UserWarning, stacklevel=2)
    for name in ("thinking", "output"):
        if not isinstance(to_grade.get(name, ""), str):
            raise SpecError(f'a submission is text, or a mapping with "output"; its "{name}" is not text')
    return {"thinking": to_grade.get("thinking", ""), "output": to_grade.get("output", "")}
