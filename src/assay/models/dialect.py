"""The common parts of wire dialects: building requests, reading replies, adjustments, and errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

import orjson

from assay.models.client import CallError
from assay.models.endpoint import Answer
from assay.types import Failure, Reply, Request, Sampling, Usage

MOST_MESSAGE = 10_000
"""The number of characters of an error that are read; secrets are redacted before the text is shortened."""
MOST_TOKENS = 2**31
"""More than any model has ever billed for one call: a larger count is a mistake."""
MOST_DEPTH = 64
"""JSON that is nested deeper cannot be stored."""
SchemaStep = Literal["json_schema", "json_object", "text"]
PARAMETERS = tuple(field.name for field in fields(Sampling))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointQuirks:
    """The deviations of an endpoint from its dialect, learned from its rejections.

    `schema` is the step of the ladder of structured output; `without` are parameters it does not take.
    """

    schema: SchemaStep = "json_schema"
    without: frozenset[str] = frozenset()
    length_field: str = "max_tokens"


class Dialect(Protocol):
    """A way of asking over HTTP: builds a body from a request and reads a reply from an answer."""

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        """The request as this endpoint wants it."""
        ...

    def reply(self, answer: Answer) -> Reply:
        """Read the reply in an answer; raise CallError if there is none."""
        ...


def parameters(sampling: Sampling, manner: EndpointQuirks) -> dict[str, Any]:
    """The sampling parameters that are set and taken, by their names in `Sampling`."""
    values: dict[str, Any] = {}
    for name in PARAMETERS:
        value = getattr(sampling, name)
        if value is not None and name not in manner.without:
            values[name] = value
    return values


def generic(request: Request) -> dict[str, Any]:
    """Convert a body that is not a conversation to request fields: text and lists become messages."""
    body = request.body
    if isinstance(body, Mapping):
        return dict(body)
    if isinstance(body, list | tuple):
        return {"messages": list(body)}
    text = body if isinstance(body, str) else orjson.dumps(body).decode()
    return {"messages": [{"role": "user", "content": text}]}


def read_json(answer: Answer) -> Any:
    """Parse the body as JSON; invalid JSON with a successful status is worth a retry."""
    try:
        return orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        if not 200 <= answer.status < 300:
            return None
        raise malformed("the answer is not valid JSON") from None


def malformed(problem: str) -> CallError:
    """The error for an answer that came but cannot be read."""
    return CallError(Failure(stage="solve", kind="parse", detail=problem, retryable=True))


def error_message(document: Any, body: bytes) -> str:
    """Return the provider's own message in an error answer."""
    if isinstance(document, list) and document:
        document = document[0]
    if isinstance(document, Mapping):
        error = document.get("error", document.get("message", document.get("detail")))
        if isinstance(error, Mapping):
            return str(error.get("message") or error)
        if error:
            return str(error)
    return body[:MOST_MESSAGE].decode(errors="replace").strip()


def billed(usage: Any, prompt: Sequence[str], completion: Sequence[str]) -> Usage | None:
    """The usage of an answer by the names that its tokens have; None when it is missing or cannot be true.

    The first name that is there counts.

    >>> billed({"prompt_tokens": 7, "completion_tokens": 2}, ["prompt_tokens"], ["completion_tokens"])
    Usage(prompt_tokens=7, completion_tokens=2)
    >>> billed({"prompt_tokens": -7}, ["prompt_tokens"], ["completion_tokens"]) is None
    True
    """
    if type(usage) is not dict and not isinstance(usage, Mapping):
        return None
    prompt_tokens = _tokens(usage, prompt)
    completion_tokens = _tokens(usage, completion)
    if prompt_tokens is None or completion_tokens is None:
        return None
    return Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def _tokens(usage: Mapping[str, Any], names: Sequence[str]) -> int | None:
    value: Any = None
    for name in names:
        value = usage.get(name)
        if value is not None:
            break
    # the exact type: True is an int too, and no count
    return int(value) if type(value) in (int, float) and 0 <= value <= MOST_TOKENS else None


def safe(reply: Reply) -> Reply:
    """The reply itself if the rest of the program can work with it; raises CallError where a part is something else.

    Replies are written by strangers: a mapping where text belongs, or a list that is nested a thousand times, is a
    failure of this sample and must not end the run.
    """
    texts: tuple[Any, ...] = (reply.text, reply.refusal, reply.finish_reason, reply.reasoning)
    for name, value in zip(_TEXTS, texts, strict=True):
        if value is not None and not isinstance(value, str):
            raise unusable(f"{name} is {type(value).__name__} instead of text")
    flat = reply.logprobs is None
    for item in reply.items:
        if type(item) is not dict and not isinstance(item, Mapping):
            raise unusable("an item of the reply is not an object")
        # nearly every reply is flat: a look at the types spares the walk
        flat = flat and _FLAT.issuperset(map(type, item.values()))
    if not flat and _depth((reply.items, reply.logprobs)) > MOST_DEPTH:
        raise unusable(f"the reply is nested more than {MOST_DEPTH} deep")
    return reply


_TEXTS = ("text", "refusal", "finish reason", "reasoning")
_FLAT = frozenset({str, int, float, bool, type(None)})


def _depth(value: Any) -> int:
    """Return the nesting depth of lists and mappings, up to the limit."""
    level, depth = [value], 0
    while level and depth <= MOST_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, Mapping | list | tuple)
        ]
    return depth


def unusable(problem: str) -> CallError:
    """Build the error for an answer that a retry would not improve."""
    return CallError(Failure(stage="solve", kind="parse", detail=f"the answer cannot be used: {problem}"))
