"""A recorded conversation in any of its usual forms, as a trace of items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from assay.spec.nearest import listing, nearest
from assay.types import MESSAGE_PARTS, Failure, FailureKind, Item, Trace, content_text

FORMAT = "open_responses"
CHAT_PARTS = frozenset(
    {"image_url", "input_audio", "audio", "file", "image", "document", "thinking", "tool_use", "tool_result"}
)
"""Parts that chat completions and Anthropic messages have beside those of Open Responses."""
_REFUSED_ENDS = ("content_filter", "refusal")


class UnreadableError(Exception):
    """A recorded reply that is not a valid answer; it becomes the failure of its sample."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        self.kind: FailureKind = kind
        super().__init__(detail)

    def as_failure(self) -> Failure:
        """Convert the error to a failure."""
        return Failure(stage="solve", kind=self.kind, detail=str(self))


def as_text(value: object) -> str | None:
    """The text of a value that is an answer itself, None for a conversation.

    >>> as_text("B"), as_text(18), as_text([{"role": "assistant", "content": "B"}])
    ('B', '18', None)
    """
    if isinstance(value, str):
        return value if _recorded(value) is None else None
    if isinstance(value, bool | int | float):
        return str(value)
    return None


def as_trace(value: object) -> Trace:
    """The items of a conversation: Open Responses items, chat messages, or JSON text of these."""
    if value is None:
        raise UnreadableError("parse", "the recorded reply is null")
    items = _unwrapped(_recorded(value) if isinstance(value, str) else value)
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise UnreadableError("parse", f"expected text or a list of messages, got {type(value).__name__}")
    trace_items: list[Item] = []
    for number, entry in enumerate(items, start=1):
        if not isinstance(entry, Mapping) or not (_is_text(entry, "role") or _is_text(entry, "type")):
            raise UnreadableError("parse", f"entry {number} of the conversation has neither role nor type")
        _check_parts(entry, number)
        trace_items.extend(_items(entry))
    return Trace(tuple(trace_items))


def _unwrapped(value: object) -> object:
    """The items of an object `{"FORMAT": "open_responses", "items": [...]}`; any other value as it is."""
    if not isinstance(value, Mapping) or not ("FORMAT" in value or "items" in value):
        return value
    form = value.get("FORMAT", FORMAT)
    if form != FORMAT:
        hint = f'; did you mean "{FORMAT}"?' if nearest(str(form), (FORMAT,)) else ""
        raise UnreadableError("parse", f'unknown trace FORMAT "{form}": expected "{FORMAT}"{hint}')
    if not isinstance(value.get("items"), Sequence) or isinstance(value["items"], str):
        raise UnreadableError("parse", f'a trace of the FORMAT "{FORMAT}" needs the list "items"')
    return value["items"]


def _check_parts(entry: Mapping[str, Any], number: int) -> None:
    """Refuse a part of a type that does not exist: its text would be lost."""
    content = entry.get("content")
    for part in content if isinstance(content, list | tuple) else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind is not None and kind not in MESSAGE_PARTS and "text" not in part and kind not in CHAT_PARTS:
            hint = nearest(str(kind), MESSAGE_PARTS)
            choices = f'did you mean "{hint}"?' if hint else f"there is {listing(sorted(MESSAGE_PARTS))}"
            raise UnreadableError("parse", f'entry {number} has a part of the unknown type "{kind}"; {choices}')


def recorded(value: object) -> Trace | str:
    """A recorded answer in any of its forms: plain text, or a conversation."""
    text = as_text(value)
    return as_trace(value) if text is None else text


def as_conversation(value: object) -> Trace:
    """Return the items of a conversation to continue; text alone does not identify its author."""
    if as_text(value) is not None:
        raise UnreadableError("parse", "expected a conversation, such as a list of messages, got text")
    return as_trace(value)


def column_of(column: str, sample: Mapping[str, Any]) -> Any:
    """The value of a column that the sample must have."""
    if column in sample:
        return sample[column]
    suggestion = nearest(column, sample)
    hint = f'did you mean "{suggestion}"?' if suggestion else f"it has {listing(sample)}"
    raise UnreadableError("missing_field", f'the sample has no column "{column}"; {hint}')


def answer_trace(answer: str) -> Trace:
    """Build the conversation that consists of an answer alone."""
    return Trace(({"type": "message", "role": "assistant", "content": answer},))


def answer_of(trace: Trace) -> str:
    """The text of the last reply; a refusal or a reply without content is no answer."""
    replies = trace.assistant_messages
    if not replies:
        if trace.function_calls:
            return ""
        raise UnreadableError("parse", "the conversation has no assistant message")
    last = replies[-1]
    refusal = _refusal(last)
    if refusal is not None:
        raise UnreadableError("refusal", refusal)
    content = last.get("content")
    if content is None:
        raise UnreadableError("parse", "the last assistant message has null content")
    if not isinstance(content, str | Sequence):
        raise UnreadableError("parse", f"the last message's content is of type {type(content).__name__}")
    return content_text(content)


def _recorded(text: str) -> list[Any] | dict[str, Any] | None:
    """The conversation in JSON text; None for text that is just text, even if it looks like a list or an object."""
    if not text.startswith(("[", "{")):
        return None
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if isinstance(document, dict):
        return document if "FORMAT" in document else None
    is_conversation = bool(document) and all(
        isinstance(entry, dict) and (_is_text(entry, "role") or _is_text(entry, "type")) for entry in document
    )
    return document if is_conversation else None


def _is_text(entry: Mapping[str, Any], name: str) -> bool:
    return isinstance(entry.get(name), str)


def _items(entry: Mapping[str, Any]) -> Iterator[Item]:
    """Convert one entry to items; a chat message with tool calls becomes several."""
    if entry.get("type", "message") != "message":
        yield entry
    elif entry.get("role") in ("tool", "function"):
        output = entry.get("content")
        call_id = entry.get("tool_call_id") or entry.get("name")
        text = output if isinstance(output, str) else content_text(output)
        yield {"type": "function_call_output", "call_id": call_id, "output": text}
    else:
        calls = list(_calls(entry))
        if entry.get("content") is not None or entry.get("refusal") or not calls:
            rest = {name: value for name, value in entry.items() if name not in ("tool_calls", "function_call")}
            yield {"type": "message", **rest}
        yield from calls


def _calls(message: Mapping[str, Any]) -> Iterator[Item]:
    """The function calls of a chat message, in today's form or the older one."""
    calls = message.get("tool_calls") or []
    if isinstance(message.get("function_call"), Mapping):
        calls = [*calls, {"id": None, "function": message["function_call"]}]
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield {
                "type": "function_call",
                "name": function.get("name"),
                "arguments": function.get("arguments"),
                "call_id": call.get("id"),
            }


def _refusal(message: Item) -> str | None:
    """The words of a refusal, by a flag, by a part of the content, or by the reason for which it ended."""
    flag = message.get("refusal")
    if flag:
        return flag if isinstance(flag, str) else "the model refused"
    content = message.get("content")
    for part in content if isinstance(content, list | tuple) else ():
        if isinstance(part, Mapping) and part.get("type") == "refusal":
            return str(part.get("refusal") or "the model refused")
    end = message.get("finish_reason")
    return f"the reply ended by {end}" if end in _REFUSED_ENDS else None
