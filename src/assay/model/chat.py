"""The chat completions dialect: what OpenAI and most others speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from assay.model.client import CallError
from assay.model.transport import Answer, status_error
from assay.types import Failure, Item, Reply, Request, Usage, content_text

_PARAMETERS = ("temperature", "top_p", "max_tokens", "seed", "stop", "reasoning_effort")


def request_body(request: Request, model: str, *, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The request as chat completions wants it."""
    body: dict[str, Any] = {"model": model, "messages": chat_messages(request.messages), **(extra or {})}
    sampling = request.sampling
    for name in _PARAMETERS:
        value = getattr(sampling, name)
        if value is not None:
            body[name] = value
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def chat_messages(items: Sequence[Item]) -> list[dict[str, Any]]:
    """A conversation as chat messages: calls go back into the message that made them, extra fields stay."""
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
            messages.append({name: value for name, value in item.items() if name != "type"})
    return messages


def read_reply(answer: Answer) -> Reply:
    """The reply in a chat completions answer; raises CallError when there is none."""
    document = read_json(answer)
    if not 200 <= answer.status < 300:
        raise status_error(answer, error_message(document, answer.body))
    try:
        choice = document["choices"][0]
        message = choice["message"]
    except (KeyError, IndexError, TypeError):
        problem = error_message(document, b"") or "the answer has no choices[0].message"
        raise malformed(problem) from None
    usage = document.get("usage") or {}
    content = message.get("content")
    refusal = message.get("refusal") or None
    if choice.get("finish_reason") == "content_filter":
        refusal = refusal or "stopped by a content filter"
    return Reply(
        text=None if content is None else content_text(content),
        refusal=refusal,
        items=reply_items(message),
        usage=Usage(
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        ),
        finish_reason=choice.get("finish_reason"),
        reasoning=message.get("reasoning_content") or message.get("reasoning"),
        logprobs=choice.get("logprobs"),
        latency_s=answer.latency_s,
    )


def reply_items(message: Mapping[str, Any]) -> tuple[Item, ...]:
    """An assistant message as items of a conversation, its tool calls as items of their own."""
    kept = {name: value for name, value in message.items() if name not in ("tool_calls", "refusal") or value}
    calls = kept.pop("tool_calls", None) or ()
    items: list[Item] = [{"type": "message", "role": "assistant", **kept}]
    for call in calls:
        function = call.get("function", {})
        items.append(
            {
                "type": "function_call",
                "name": function.get("name"),
                "arguments": function.get("arguments"),
                "call_id": call.get("id"),
            }
        )
    return tuple(items)


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
    if isinstance(document, Mapping):
        error = document.get("error", document.get("message"))
        if isinstance(error, Mapping):
            return str(error.get("message") or error)
        if error:
            return str(error)
    return body[:300].decode(errors="replace").strip()
