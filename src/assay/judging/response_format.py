"""The reply format of a judge: the instruction, the schema for structured output, and the parser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from assay.judging.answers import AnyLabel, Labels, Range, listed
from assay.judging.parse import Answers, ParsedReply, read_reply
from assay.judging.prompts import wording
from assay.types import Item

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[Value]):
    """One reply format; `field` holds the verdict."""

    field: str
    instruction: str
    schema: Mapping[str, Any]
    answers: Answers[Value]

    def read(self, text: str) -> ParsedReply[Value]:
        """Parse a reply; raise Unreadable if it has no verdict."""
        return read_reply(text, self.field, self.answers)

    def messages(self, system: str | None, user: str, *, explained: bool) -> tuple[Item, ...]:
        """The question to the judge; the instruction joins the system message unless the prompts explain the form."""
        system_text = "\n\n".join(part for part in (system, None if explained else self.instruction) if part)
        first: tuple[Item, ...] = (
            ({"type": "message", "role": "system", "content": system_text},) if system_text else ()
        )
        return (*first, {"type": "message", "role": "user", "content": user})

    def explained_in(self, *prompts: str | None) -> bool:
        """Return whether a prompt, before sample values are filled in, mentions the field in quotes."""
        return any(prompt and re.search(rf"[\"'`]{re.escape(self.field)}[\"'`]", prompt) for prompt in prompts)


@lru_cache
def choice_form(labels: tuple[str, ...]) -> Form[str]:
    """One of some labels."""
    field = "prediction"
    return Form(
        field=field,
        instruction=wording("choice", field=field, labels=listed(labels)),
        schema=verdict_schema(field, {"type": "string", "enum": list(labels)}),
        answers=Labels(labels),
    )


@lru_cache
def label_form() -> Form[str]:
    """Any label that the judge finds fitting."""
    field = "prediction"
    return Form(
        field=field,
        instruction=wording("label", field=field),
        schema=verdict_schema(field, {"type": "string"}),
        answers=AnyLabel(),
    )


@lru_cache
def score_form(low: float, high: float) -> Form[float]:
    """Build the format for a number in a range."""
    field = "score"
    # bounds stay out of the schema: several providers refuse schemas that have them
    value = {"type": "number", "description": f"from {low:g} to {high:g}"}
    return Form(
        field=field,
        instruction=wording("score", field=field, low=f"{low:g}", high=f"{high:g}"),
        schema=verdict_schema(field, value),
        answers=Range(low, high),
    )


def verdict_schema(field: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a verdict; the reasoning comes first, so that it is written before the verdict.

    >>> verdict_schema("score", {"type": "number"})["required"]
    ['reasoning', 'score', 'confidence']
    """
    properties = {"reasoning": {"type": "string"}, field: dict(value), "confidence": {"type": "number"}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
