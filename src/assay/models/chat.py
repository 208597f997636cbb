"""The chat completions dialect of OpenAI and most other providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

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
from assay.types import Item, Reply, Request, Usage, content_text

_PLAIN = EndpointQuirks()


@dataclass(frozen=True, slots=True)
class Chat:
    """Chat completions of one model; without a name the endpoint has only one."""

    model: str | None

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        return orjson.dumps(request_body(request, self.model, manner))

    def reply(self, answer: Answer) -> Reply:
        return read_reply(answer)


def request_body(request: Request, model: str | None, manner: EndpointQuirks = _PLAIN) -> dict[str, Any]:
    """The request as chat completions wants it."""
    body: dict[str, Any] = {} if model is None else {"model": model}
    if request.body is None:
        body["messages"] = chat_messages(request.messages)
    body.update(parameters(request.sampling, manner))
    if "max_tokens" in body and manner.length_field != "max_tokens":
        body[manner.length_field] = body.pop("max_tokens")
    if request.schema is not None and manner.schema != "text":
        body["response_format"] = response_format(request.schema, manner)
    if request.body is not None:
        body.update(generic(request))
    return body


def response_format(schema: Mapping[str, Any], manner: EndpointQuirks) -> dict[str, Any]:
    """Build the response format of a chat completions request."""
    if manner.schema == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def chat_messages(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Convert a conversation to chat messages: calls return to the message that made them, extra fields are kept."""
    messages: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        elif kind == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item["output"]})
        else:
            message = dict(item)
            message.pop("type", None)
            messages.append(message)
    return messages


def read_reply(answer: Answer) -> Reply:
    """Read the reply in a chat completions answer; raise CallError if there is none."""
    document = read_json(answer)
    if not 200 <= answer.status < 300:
        raise status_error(answer, error_message(document, answer.body))
    return reply_of(document, answer.latency_s)


def reply_of(document: Any, latency_s: float) -> Reply:
    """The reply in a chat completions document; raises CallError when it has none."""
    try:
        choice = document["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        problem = error_message(document, b"") or "the answer has no choices[0].message"
        raise malformed(problem) from None
    usage = billed(
        document.get("usage"),
        ("prompt_tokens", "num_prompt_tokens"),
        ("completion_tokens", "num_completion_tokens"),
    )
    refusal = message.get("refusal") or None
    if choice.get("finish_reason") == "content_filter":
        refusal = refusal or "stopped by a content filter"
    return Reply(
        text=None if content is None else content_text(content),
        refusal=refusal,
        items=reply_items(_with_references(message, choice)),
        usage=usage or Usage(),
        usage_missing=usage is None,
        finish_reason=choice.get("finish_reason"),
        reasoning=message.get("reasoning_content") or message.get("reasoning"),
        logprobs=choice.get("logprobs"),
        latency_s=latency_s,
    )


def _with_references(message: Mapping[str, Any], choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message with the passages that a retrieval system returns beside it."""
    references = choice.get("references")
    return {**message, "references": references} if isinstance(references, list) else message


def reply_items(message: Mapping[str, Any]) -> tuple[Item, ...]:
    """Convert an assistant message to conversation items, with each tool call as its own item."""
    fields = dict(message)
    calls = fields.pop("tool_calls", None) or []
    if not fields.get("refusal"):
        fields.pop("refusal", None)
    items: list[Item] = [{"type": "message", "role": "assistant", **fields}]
    if not isinstance(calls, list):
        raise unusable("the tool calls are not a list")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise unusable("a tool call has no function")
        items.append(
            {
                "type": "function_call",
                "name": function.get("name"),
                "arguments": function.get("arguments"),
                "call_id": call.get("id"),
            }
        )
    return tuple(items)
