"""Parse a judge's reply: the requested value, in a JSON object or bare."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from assay.judging.answers import number_of, plain, storable
from assay.judging.json_extraction import STARTS, Object, Unreadable, objects_in

Value = TypeVar("Value")
Given = TypeVar("Given", covariant=True)
_THOUGHT = "</think>"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$", re.MULTILINE)
_REASONS = ("reasoning", "explanation")


class Answers(Protocol[Given]):
    """The answers that a judge may give, and how to recognise them."""

    def read(self, value: Any) -> Given:
        """Return the answer that a value represents; raise Unreadable if there is none."""
        ...

    def named_in(self, text: str) -> frozenset[Given]:
        """All answers that a text mentions, meant or not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply(Generic[Value]):
    """A parsed reply: the value, the judge's spelling of it, and the accompanying explanation."""

    value: Value
    written: str
    reasoning: str | None = None
    confidence: float | None = None


def read_reply(text: str, field: str, answers: Answers[Value]) -> ParsedReply[Value]:
    """The value of `field` in the last object that has it; a reply without objects may be the bare value.

    Raises Unreadable, with the problem named, when the reply does not say one thing clearly.
    """
    reply = spoken(text)
    objects = objects_in(reply)
    holding = [candidate for candidate in objects if _name(candidate, field) is not None]
    if holding:
        return read_object(holding[-1], field, answers)
    if objects:
        raise Unreadable(f'the JSON object has no field "{field}"')
    return _alone(reply, field, answers)


def spoken(text: str) -> str:
    """A reply without what the model thought aloud before it; raises Unreadable when nothing is left."""
    reply = text.rpartition(_THOUGHT)[2].strip()
    if not reply:
        raise Unreadable("the reply is empty")
    return reply


def read_object(reply_object: Object, field: str, answers: Answers[Value]) -> ParsedReply[Value]:
    """Read `field` of an object with its accompanying fields; raise Unreadable if that fails."""
    value = field_of(reply_object, field)
    if value is None:
        raise Unreadable(f'the field "{field}" is null')
    confidence = number_of(field_of(reply_object, "confidence"))
    return ParsedReply(
        value=answers.read(value),
        written=plain(value).strip(),
        reasoning=next(filter(None, (_reasons(field_of(reply_object, name)) for name in _REASONS)), None),
        confidence=confidence if confidence is not None and 0 <= confidence <= 1 else None,
    )


def _alone(text: str, field: str, answers: Answers[Value]) -> ParsedReply[Value]:
    """A reply that is the value, or that begins or ends with a line which is the value."""
    if STARTS.search(text):
        raise Unreadable(f'the reply holds no complete JSON object with the field "{field}"')
    lines = [line.strip() for line in _FENCE.sub("", text).splitlines() if line.strip()]
    if len(lines) == 1:
        text_value = _without_name(lines[0], field)
        return ParsedReply(value=answers.read(text_value), written=text_value)
    for place in (0, -1):
        if not lines:
            break
        text_value = _without_name(lines[place], field)
        try:
            value = answers.read(text_value)
        except Unreadable:
            continue
        rest = lines[1:] if place == 0 else lines[:-1]
        if answers.named_in("\n".join(rest)) - {value}:
            raise Unreadable("the reply names more than one answer")
        return ParsedReply(value=value, written=text_value)
    raise Unreadable(f'the reply holds neither a JSON object with the field "{field}" nor just an answer')


def _without_name(line: str, field: str) -> str:
    """A line without the `prediction:` before its value."""
    return re.sub(rf"^[\s*_#>`\"']*{re.escape(field)}[\s*_`\"']*[:=][\s*_`]*", "", line, flags=re.IGNORECASE).strip()


def _name(reply_object: Object, field: str) -> str | None:
    """The field as the judge spelt it: exactly, else in any case."""
    if field in reply_object:
        return field
    return next((name for name in reply_object if name.strip().casefold() == field), None)


def field_of(reply_object: Object, field: str) -> Any:
    """Return a field of an object, ignoring the case of its name; None if it is missing."""
    name = _name(reply_object, field)
    return None if name is None else reply_object[name]


def _reasons(reasoning: Any) -> str | None:
    """The reasoning as text; a list of reasons is one reason after the other."""
    if isinstance(reasoning, str):
        return storable(reasoning.strip())
    if isinstance(reasoning, list) and all(isinstance(reason, str) for reason in reasoning):
        return storable("\n".join(reasoning))
    return None
