"""The input of a single question: chat messages, or any JSON that a template renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from assay.solvers.asking import STAGE, InputMessage, message
from assay.solvers.conversation import UnreadableError, as_trace
from assay.solvers.tagged import type_among
from assay.spec.fields import Settings, Template
from assay.templates import row_text, values
from assay.types import Failure, Item, Request, Rows, Sampling


class ChatInput(Settings):
    """Chat messages, each with a role and a content template."""

    type: Literal["chat_completion"]
    input_messages: list[InputMessage] = Field(min_length=1)


class GenericInput(Settings):
    """A template that renders JSON: messages, a request with `messages`, or whatever the endpoint takes."""

    type: Literal["generic"]
    template: Template


InputBuilder = Annotated[
    ChatInput | GenericInput, Field(discriminator="type"), type_among("chat_completion", "generic")
]


def request_of(builder: ChatInput | GenericInput, rows: Rows, sampling: Sampling) -> Request | Failure:
    """The question that a builder makes of the one row."""
    if isinstance(builder, ChatInput):
        messages = _messages(builder.input_messages, rows)
        return messages if isinstance(messages, Failure) else Request(messages=messages, sampling=sampling)
    value = rendered_json(builder.template, rows)
    return value if isinstance(value, Failure) else request_from(value, sampling)


def _messages(prompt: Sequence[InputMessage], rows: Rows) -> tuple[Item, ...] | Failure:
    messages: list[Item] = []
    for template in prompt:
        text = row_text(template.content, rows, stage=STAGE)
        if isinstance(text, Failure):
            return text
        messages.append(message(template.role, text))
    return tuple(messages)


def rendered_json(template: Template, rows: Rows) -> Any:
    """Return the plain JSON value of a template's result, direct or as text; otherwise a Failure."""
    column = values(template, rows, stage=STAGE)
    if column.failures:
        return column.failures[0]
    value = column.values[0]
    try:
        return orjson.loads(value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))
    except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
        where = f"{template.place}: " if template.place else ""
        detail = f"{where}the template does not render JSON: {error} (text goes through `| tojson`)"
        return Failure(stage=STAGE, kind="template", detail=detail)


def request_from(value: Any, sampling: Sampling) -> Request | Failure:
    """Build a request from JSON: text, messages, a request with messages, or a body of its own format.

    >>> request_from("Why?", Sampling()).messages
    ({'type': 'message', 'role': 'user', 'content': 'Why?'},)
    """
    if value in (None, "", [], {}):
        return Failure(stage=STAGE, kind="template", detail="the template renders nothing to ask")
    try:
        messages = as_trace(value).items if isinstance(value, dict) and "FORMAT" in value else _messages_in(value)
    except UnreadableError as unreadable:
        return unreadable.as_failure()
    return Request(body=value, sampling=sampling) if messages is None else Request(messages=messages, sampling=sampling)


def asked(request: Request) -> tuple[Item, ...]:
    """The question as a conversation shows it: its messages, or the text of a body that has none."""
    if request.body is None:
        return request.messages
    body = request.body
    inside = body.get("messages", body.get("input")) if isinstance(body, Mapping) else None
    if _are_messages(inside):
        return as_trace(inside).items
    return (message("user", orjson.dumps(body).decode()),)


def _messages_in(value: Any) -> tuple[Item, ...] | None:
    """The messages of a value that is nothing but messages, None for any other."""
    if not isinstance(value, list | dict):
        return (message("user", value if isinstance(value, str) else orjson.dumps(value).decode()),)
    if isinstance(value, dict):
        value = (
            value["messages"] if set(value) == {"messages"} else [value] if set(value) == {"role", "content"} else None
        )
    return as_trace(value).items if _are_messages(value) else None


def _are_messages(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(entry, dict) and isinstance(entry.get("role"), str) for entry in value)
