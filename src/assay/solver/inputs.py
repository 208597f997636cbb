"""What a single question is made of: chat messages, or any JSON that a template renders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.solver.asking import InputMessage
from assay.spec.fields import Settings, Template
from assay.template import texts, values
from assay.types import Failure, Item, Request, Rows, Sampling


class ChatInput(Settings):
    """Chat messages, each with a role and a content template."""

    type: Literal["chat_completion"]
    input_messages: list[InputMessage] = Field(min_length=1)


class GenericInput(Settings):
    """A template that renders JSON: messages, a request with `messages`, or whatever the endpoint takes."""

    type: Literal["generic"]
    template: Template


InputBuilder = Annotated[ChatInput | GenericInput, Field(discriminator="type")]


def messages_of(prompt: list[InputMessage], rows: Rows) -> tuple[Item, ...] | Failure:
    """The messages of a prompt, rendered for the one row."""
    made: list[Item] = []
    for message in prompt:
        column = texts(message.content, rows, stage="solve")
        if column.failures:
            return column.failures[0]
        made.append({"type": "message", "role": message.role, "content": column.values[0]})
    return tuple(made)


def request_of(builder: ChatInput | GenericInput, rows: Rows, sampling: Sampling) -> Request | Failure:
    """The question that a builder makes of the one row."""
    if isinstance(builder, ChatInput):
        messages = messages_of(builder.input_messages, rows)
        return messages if isinstance(messages, Failure) else Request(messages=messages, sampling=sampling)
    rendered = rendered_json(builder.template, rows)
    return rendered if isinstance(rendered, Failure) else request_from(rendered, sampling)


def rendered_json(template: Template, rows: Rows) -> Any:
    """The value that a template gives, read as JSON where it is text; a Failure when it is neither."""
    import orjson

    column = values(template, rows, stage="solve")
    if column.failures:
        return column.failures[0]
    value = column.values[0]
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        where = f"{template.place}: " if template.place else ""
        return Failure(stage="solve", kind="template", detail=f"{where}the template does not render JSON: {error}")


def request_from(value: Any, sampling: Sampling) -> Request:
    """A question from any JSON: a list of messages, a request that holds some, or a body of its own kind."""
    if isinstance(value, str):
        return Request(messages=({"type": "message", "role": "user", "content": value},), sampling=sampling)
    if _are_messages(value):
        return Request(messages=tuple(value), sampling=sampling)
    if isinstance(value, Mapping) and _are_messages(value.get("messages")) and set(value) == {"messages"}:
        return Request(messages=tuple(value["messages"]), sampling=sampling)
    return Request(body=value, sampling=sampling)


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, Mapping) and "role" in m for m in value)
