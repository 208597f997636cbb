"""The messages dialect of Anthropic."""

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

NEVER_TAKEN = frozenset({"seed"})
"""Sampling parameters that the dialect has no field for."""
USUAL_LENGTH = 4_096
"""The dialect demands a limit; this one is sent when the task sets none."""
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True, slots=True)
class Anthropic:
    """Messages of one model."""

    model: str | None

    def body(self, request: Request, manner: EndpointQuirks) -> bytes:
        return orjson.dumps(request_body(request, self.model, manner))

    def reply(self, answer: Answer) -> Reply:
        return read_reply(answer)


def request_body(request: Request, model: str | None, manner: EndpointQuirks) -> dict[str, Any]:
    """Build a request in the messages dialect: system text separate, calls as blocks."""
    extra = {"messages": request.messages} if request.body is None else generic(request)
    items = extra.pop("messages", ())
    body: dict[str, Any] = {} if model is None else {"model": model}
    body["max_tokens"] = USUAL_LENGTH
    taken = parameters(request.sampling, manner)
    if "stop" in taken:
        taken["stop_sequences"] = taken.pop("stop")
    output = {}
    if "reasoning_effort" in taken:
        output["effort"] = taken.pop("reasoning_effort")
    if request.schema is not None and manner.schema == "json_schema":
        output["format"] = {"type": "json_schema", "schema": request.schema}
    if output:
        body["output_config"] = output
    system = [content_text(item.get("content")) for item in items if item.get("role") in ("system", "developer")]
    if system:
        body["system"] = "\n\n".join(system)
    return {**body, **taken, "messages": _messages(items), **extra}


def _messages(items: Sequence[Item]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            arguments = item.get("arguments")
            parsed = orjson.loads(arguments) if isinstance(arguments, str) and arguments else arguments or {}
            call = {"type": "tool_use", "id": item.get("call_id"), "name": item.get("name"), "input": parsed}
            _add(messages, "assistant", [call])
        elif kind == "function_call_output":
            output = item.get("output")
            result = {"type": "tool_result", "tool_use_id": item.get("call_id"), "content": output}
            _add(messages, "user", [result])
        elif item.get("role") not in ("system", "developer") and item.get("content") is not None:
            content = item["content"]
            if isinstance(content, list | tuple):
                content = [_part(part) for part in content]
            messages.append({"role": item.get("role"), "content": content})
    return messages


def _add(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Blocks join the message before them when it is of the same role, as calls and their results must."""
    if not messages or messages[-1]["role"] != role:
        messages.append({"role": role, "content": blocks})
        return
    before = messages[-1]["content"]
    if isinstance(before, str):
        before = [{"type": "text", "text": before}] if before else []
    messages[-1]["content"] = [*before, *blocks]


def _part(part: Any) -> Any:
    """A part as a block: text in any of its names, images by address or by value."""
    if not isinstance(part, Mapping):
        return {"type": "text", "text": str(part)}
    if part.get("type") in ("input_text", "output_text"):
        return {"type": "text", "text": part.get("text", "")}
    if part.get("type") not in ("image_url", "input_image"):
        return part
    image = part.get("image_url")
    url = str(image.get("url") if isinstance(image, Mapping) else image)
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def read_reply(answer: Answer) -> Reply:
    """Read the reply in a messages answer; raise CallError if there is none."""
    document = read_json(answer)
    if not 200 <= answer.status < 300:
        raise status_error(answer, error_message(document, answer.body))
    blocks = document.get("content") if isinstance(document, Mapping) else None
    if not isinstance(blocks, list):
        raise malformed(error_message(document, b"") or "the answer has no content")
    if not all(isinstance(block, Mapping) for block in blocks):
        raise unusable("a block of the content is not an object")
    usage = _usage(document.get("usage"))
    reason = document.get("stop_reason")
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    thoughts = [block.get("thinking", "") for block in blocks if block.get("type") == "thinking"]
    return Reply(
        text="".join(texts) if texts else None,
        refusal="the model refused to answer" if reason == "refusal" else None,
        items=_items(blocks, texts),
        usage=usage or Usage(),
        usage_missing=usage is None,
        finish_reason=_FINISH.get(reason, reason) if isinstance(reason, str) else None,
        reasoning="\n".join(filter(None, thoughts)) or None,
        latency_s=answer.latency_s,
    )


def _usage(usage: Any) -> Usage | None:
    """The usage of an answer, with the tokens that were written to and read from the provider's cache."""
    counts = billed(usage, _COUNTS[:1], ("output_tokens",))
    if counts is None:
        return None
    cached = [billed({name: usage.get(name) or 0, "no": 0}, (name,), ("no",)) for name in _COUNTS[1:]]
    prompts = [counts, *cached]
    if None in prompts:
        return None
    return sum((part for part in prompts if part is not None), Usage())


def _items(blocks: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> tuple[Item, ...]:
    """The blocks as items: thoughts stay in the message because the dialect wants them back with the next turn."""
    spoken = [block for block in blocks if block.get("type") != "tool_use"]
    content: Any = texts[0] if len(spoken) == 1 and texts else spoken or None
    items: list[Item] = [{"type": "message", "role": "assistant", "content": content}]
    for block in blocks:
        if block.get("type") == "tool_use":
            arguments = orjson.dumps(block.get("input") or {}).decode()
            called = {"name": block.get("name"), "arguments": arguments, "call_id": block.get("id")}
            items.append({"type": "function_call", **called})
    return tuple(items)
