"""What every wire dialect shares: its two halves, how it may be bent, and the reading of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

import orjson

from assay.models.client import CallError
from assay.models.transport import Answer
from assay.types import Failure, Reply, Request, Sampling

SchemaStep = Literal["json_schema", "json_object", "text"]
PARAMETERS = tuple(field.name for field in fields(Sampling))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointQuirks:
    """How an endpoint wants to be asked, as far as its refusals have told.

    `schema` is the step of the ladder of structured output; `without` are parameters it does not take.
    """

    schema: SchemaStep = "json_schema"
    without: frozenset[str] = frozenset()
    length_field: str = "max_tokens"


class Dialect(Protocol):
    """A way of asking over HTTP: a request becomes a body, an answer becomes a reply."""

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        """The request as this endpoint wants it."""
        ...

    def reply(self, answer: Answer) -> Reply:
        """The reply in an answer; raises CallError when there is none."""
        ...


def parameters(sampling: Sampling, manner: EndpointQuirks) -> dict[str, Any]:
    """The sampling parameters that are set and taken, by their names in `Sampling`."""
    found: dict[str, Any] = {}
    for name in PARAMETERS:
        value = getattr(sampling, name)
        if value is not None and name not in manner.without:
            found[name] = value
    return found


def generic(request: Request) -> dict[str, Any]:
    """A body that is not a conversation, as fields of a request: text and lists become messages."""
    body = request.body
    if isinstance(body, Mapping):
        return dict(body)
    if isinstance(body, list | tuple):
        return {"messages": list(body)}
    text = body if isinstance(body, str) else orjson.dumps(body).decode()
    return {"messages": [{"role": "user", "content": text}]}


def read_json(answer: Answer) -> Any:
    """The body as JSON; a body that is not is worth another try when the status says all went well."""
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
    """What an error answer says, in the provider's own words."""
    if isinstance(document, list) and document:
        document = document[0]
    if isinstance(document, Mapping):
        error = document.get("error", document.get("message", document.get("detail")))
        if isinstance(error, Mapping):
            return str(error.get("message") or error)
        if error:
            return str(error)
    return body[:300].decode(errors="replace").strip()


def count(usage: Mapping[str, Any], *names: str) -> int:
    """The first of several token counts that is there."""
    for name in names:
        value = usage.get(name)
        if isinstance(value, int | float):
            return int(value)
    return 0
