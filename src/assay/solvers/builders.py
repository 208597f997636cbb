"""The message builders of conversations: fixed messages, generated replies, loops, recorded traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator

from assay.solvers.asking import InputMessage, Role
from assay.solvers.tagged import misplaced, not_empty, type_among
from assay.spec.fields import ColumnName, Located, Settings, Template


class TerminateIf(Settings):
    """Ends the innermost loop, or outside of loops the conversation, when the new message includes a text."""

    includes: Annotated[Template, AfterValidator(not_empty)]
    keep_iteration: bool = True


class ChatMessage(Settings):
    """A message whose text is known but for the sample."""

    type: Literal["chat_message"]
    role: Role
    content: Template
    terminate_if: TerminateIf | None = None


class Generate(Settings):
    """A reply of the model that is evaluated."""

    type: Literal["generate"]
    terminate_if: TerminateIf | None = None


class ExtraMessage(InputMessage):
    """A message for the other model only; its type may be written like that of a builder."""

    type: Literal["chat_message"] = "chat_message"


class GenerateMessage(Settings):
    """A message written by another model, such as a simulated user; only its text is kept."""

    type: Literal["generate_message"]
    model_key: Annotated[Located, AfterValidator(not_empty)]
    extra_input_messages: list[ExtraMessage] = Field(default_factory=list)
    include_conversation: bool = True
    output_role: Role = "user"
    terminate_if: TerminateIf | None = None


class LoadTrace(Settings):
    """A recorded conversation to go on from."""

    type: Literal["load_trace"]
    trace_column: ColumnName


class Loop(Settings):
    """The same builders again and again, until a message ends it or the last iteration is over."""

    type: Literal["loop"]
    message_builders: list[MessageBuilder] = Field(min_length=1)
    max_iterations: int = Field(default=10, ge=0)
    on_max_iterations: Literal["error", "continue"] = "error"

    @field_validator("message_builders", mode="before")
    @classmethod
    def _begins_once(cls, builders: Any) -> Any:
        for i, builder in enumerate(builders if isinstance(builders, list) else ()):
            if isinstance(builder, Mapping) and builder.get("type") == "load_trace":
                raise misplaced((i, "type"), "load_trace is not allowed inside a loop: a conversation begins only once")
        return builders

    @property
    def can_end_early(self) -> bool:
        """Return whether one of its own messages can end it; messages in an inner loop end only that loop."""
        return any(
            isinstance(builder, Spoken) and builder.terminate_if is not None for builder in self.message_builders
        )


Spoken = ChatMessage | Generate | GenerateMessage
MessageBuilder = Annotated[
    ChatMessage | Generate | GenerateMessage | Loop | LoadTrace,
    Field(discriminator="type"),
    type_among("chat_message", "generate", "generate_message", "loop", "load_trace"),
]


def all_of(builders: Sequence[MessageBuilder]) -> Iterator[MessageBuilder]:
    """Every builder, those inside loops included."""
    for builder in builders:
        yield builder
        if isinstance(builder, Loop):
            yield from all_of(builder.message_builders)
