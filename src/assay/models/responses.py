"""The responses dialect: a conversation as items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from assay.models.client import CallError
from assay.models.dialect import (
    EndpointQuirks,
    billed,
    error_message,
    generic,
    malformed,
    parameters,
    read_json,
    unusable,
)
from assay.models.endpoint import Answer, status_error
from assay.types import Failure, Item, Reply, Request, Usage, content_text

NEVER_TAKEN = frozenset({"seed", "stop"})
"""Sampling parameters that the dialect has no field for."""
_CUT = {"max_output_tokens": "length"}


@dataclass(frozen=True, slots=True)
class Responses:
    """Responses of one model."""

    model: str | None

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        return orjson.dumps(request_body(request, self.model, manner))

    def reply(self, answer: Answer) -> Reply:
        return read_reply(answer)


def request_body(request: Request, model: str | None, manner: EndpointQuirks) -> dict[str, Any]:
    """Build a request in the responses dialect; nothing is stored on the server."""
    extra = {"messages": request.messages} if request.body is None else generic(request)
    body: dict[str, Any] = {} if model is None else {"model": model}
    body["store"] = False
    taken = parameters(request.sampling, manner)
    if "max_tokens" in taken:
        taken["max_output_tokens"] = taken.pop("max_tokens")
    if "reasoning_effort" in taken:
        taken["reasoning"] = {"effort": taken.pop("reasoning_effort")}
    if request.schema is not None and manner.schema != "text":
        form: dict[str, Any] = {"type": manner.schema}
        if manner.schema != "json_object":
            form = {"type": "json_schema", "name": "answer", "schema": request.schema, "strict": True}
        body["text"] = {"format": form}
    if "messages" in extra:
        body["input"] = [_input(item) for item in extra.pop("messages")]
    return {**body, **taken, **extra}


def _input(item: Item) -> Item:
    content = item.get("content")
    if not isinstance(content, list | tuple):
        return item
    kind = "output_text" if item.get("role") == "assistant" else "input_text"
    return {**item, "content": [_part(part, kind) for part in content]}


def _part(part: Any, kind: str) -> Any:
    if not isinstance(part, Mapping):
        return {"type": kind, "text": str(part)}
    if part.get("type") == "text":
        return {**part, "type": kind}
    if part.get("type") == "image_url":
        image = part.get("image_url")
        return {"type": "input_image", "image_url": image.get("url") if isinstance(image, Mapping) else image}
    return part


def read_reply(answer: Answer) -> Reply:
    """Read the reply in a responses answer; raise CallError if there is none."""
    document = read_json(answer)
    if not 200 <= answer.status < 300:
        raise status_error(answer, error_message(document, answer.body))
    output = document.get("output") if isinstance(document, Mapping) else None
    if not isinstance(output, list):
        raise malformed(error_message(document, b"") or "the answer has no output")
    if document.get("status") == "failed":
        detail = error_message(document, b"") or "the model failed"
        raise CallError(Failure(stage="solve", kind="http", detail=detail, retryable=True))
    if not all(isinstance(item, Mapping) for item in output):
        raise unusable("an item of the output is not an object")
    usage = billed(document.get("usage"), ("input_tokens",), ("output_tokens",))
    details = document.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    refusal = "".join(str(part.get("refusal", "")) for part in _parts(output) if part.get("type") == "refusal") or None
    if reason == "content_filter":
        refusal = refusal or "stopped by a content filter"
    items = output_items(output)
    calls = any(item.get("type") == "function_call" for item in items)
    return Reply(
        text=text_of_items(items),
        refusal=refusal,
        items=items,
        usage=usage or Usage(),
        usage_missing=usage is None,
        finish_reason=_CUT.get(reason, reason) if reason else "tool_calls" if calls else "stop",
        reasoning=_reasoning(output),
        logprobs=next((part["logprobs"] for part in _parts(output) if part.get("logprobs")), None),
        latency_s=answer.latency_s,
    )


def _parts(output: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    contents = [item.get("content") for item in output if item.get("type", "message") == "message"]
    return [part for content in contents if isinstance(content, list) for part in content if isinstance(part, Mapping)]


def _reasoning(output: Sequence[Mapping[str, Any]]) -> str | None:
    thoughts = [item.get("summary") or item.get("content") for item in output if item.get("type") == "reasoning"]
    return "\n".join(filter(None, (content_text(thought) for thought in thoughts))) or None


def output_items(output: Sequence[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Return the output items that join the conversation: text and calls.

    Reasoning goes back only when it carries itself (encrypted): the server keeps nothing that an id could name.
    """
    items: list[Item] = []
    for item in output:
        kind = item.get("type", "message")
        if kind == "message":
            content = item.get("content")
            has_text = isinstance(content, str) or any(part.get("type") != "refusal" for part in _parts([item]))
            items.append({"type": kind, "role": "assistant", "content": content_text(content) if has_text else None})
        elif kind == "function_call":
            items.append({name: value for name, value in item.items() if name not in ("id", "status")})
        elif kind == "reasoning" and item.get("encrypted_content"):
            items.append(item)
    return tuple(items)


def text_of_items(items: Sequence[Item]) -> str | None:
    """Return the text of the messages among items; None without any."""
    texts = [item["content"] for item in items if item.get("type") == "message" and item.get("content") is not None]
    return "".join(texts) if texts else None
