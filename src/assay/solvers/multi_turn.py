"""`multi_turn_solver`: a conversation, turn by turn, from fixed messages, replies and other models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from assay.registry import AskingSolverKind
from assay.solvers.asking import STAGE, AskingSolverSpec, answer_in, message, rendered, reply_items
from assay.solvers.builders import (
    ChatMessage,
    Generate,
    GenerateMessage,
    LoadTrace,
    Loop,
    MessageBuilder,
    Spoken,
    TerminateIf,
    all_of,
)
from assay.solvers.conversation import UnreadableError, as_conversation, column_of
from assay.spec.fields import Template
from assay.templates import row_variables
from assay.types import Ask, Failure, Item, Request, Rows, Solution, Trace, content_text


class MultiTurnSolver(AskingSolverSpec):
    """A conversation in several turns, with loops, recorded beginnings, and models that play the user."""

    type: Literal["multi_turn_solver"]
    message_builders: list[MessageBuilder] = Field(min_length=1)

    @property
    def asks_evaluated_model(self) -> bool:
        """Return whether any builder has the type generate; otherwise the conversation needs no evaluated model."""
        return any(isinstance(builder, Generate) for builder in all_of(self.message_builders))


async def multi_turn(settings: MultiTurnSolver, rows: Rows, ask: Ask) -> Solution | Failure:
    """Run the conversation; the answer is the model's last reply, or without a model the last message."""
    talk = _Talk(settings, rows, ask)
    try:
        await talk.hold()
    except _StoppedError as stopped:
        return stopped.failure
    if not talk.answers and not settings.asks_evaluated_model and talk.items:
        trace = Trace(tuple(talk.items))
        # an assistant's message is the reply; where there is none, the last words are all there is to score
        last = trace.get_last_assistant_text()
        return Solution(answer=content_text(talk.items[-1].get("content")) if last is None else last, trace=trace)
    if not talk.answers:
        return Failure(stage=STAGE, kind="parse", detail="no reply of the model is left in the conversation")
    return Solution(answer=talk.answers[-1][1], trace=Trace(tuple(talk.items)))


class _StoppedError(Exception):
    """Ends a conversation that cannot go on."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class _Talk:
    """A conversation in progress; `answers` holds the model's replies, each with the conversation's length then."""

    def __init__(self, settings: MultiTurnSolver, rows: Rows, ask: Ask) -> None:
        self._builders = settings.message_builders
        self._sampling = settings.sampling.value
        self._rows = rows
        self._ask = ask
        self._newest = 0
        self.items: list[Item] = []
        self.answers: list[tuple[int, str]] = []

    async def hold(self) -> None:
        """Follow the builders to the end, or to the message that ends the conversation."""
        ended_by = await self._follow(self._builders, None)
        if ended_by is not None and not ended_by.keep_iteration:
            self._forget_since(self._newest)

    async def _follow(self, builders: Sequence[MessageBuilder], loop_index: int | None) -> TerminateIf | None:
        """Build the messages one by one; return the rule that ended them early, or None."""
        for builder in builders:
            if isinstance(builder, Loop):
                await self._repeat(builder)
                continue
            # where this message begins: a rule that drops it cuts the conversation here
            self._newest = len(self.items)
            if isinstance(builder, LoadTrace):
                self._load(builder)
                continue
            text = await self._speak(builder, loop_index)
            rule = builder.terminate_if
            if rule is not None and self._includes(rule, text, loop_index):
                return rule
        return None

    async def _repeat(self, loop: Loop) -> None:
        for i in range(loop.max_iterations):
            start = len(self.items)
            ended_by = await self._follow(loop.message_builders, i)
            if ended_by is not None:
                if not ended_by.keep_iteration:
                    self._forget_since(start)
                return
        if loop.can_end_early and loop.on_max_iterations == "error":
            times = f"{loop.max_iterations} iteration{'s' if loop.max_iterations > 1 else ''}"
            detail = f"the loop did not end within {times}: no message included what terminate_if waits for"
            raise _StoppedError(Failure(stage=STAGE, kind="parse", detail=detail))

    async def _speak(self, builder: Spoken, loop_index: int | None) -> str:
        """Add the builder's message to the conversation; its text."""
        if isinstance(builder, ChatMessage):
            text = self._text(builder.content, loop_index)
            self.items.append(message(builder.role, text))
            return text
        if isinstance(builder, GenerateMessage):
            text = await self._other(builder, loop_index)
            self.items.append(message(builder.output_role, text))
            return text
        reply = await self._ask(Request(messages=tuple(self.items), sampling=self._sampling))
        text = _unless_failed(answer_in(reply))
        self.answers.append((len(self.items), text))
        self.items += reply_items(reply)
        return text

    async def _other(self, builder: GenerateMessage, loop_index: int | None) -> str:
        """Return another model's message. Its system messages come first."""
        extra = [
            message(template.role, self._text(template.content, loop_index))
            for template in builder.extra_input_messages
        ]
        first = next((i for i, item in enumerate(extra) if item["role"] not in ("system", "developer")), len(extra))
        between = self.items if builder.include_conversation else []
        model = str(builder.model_key)
        reply = await self._ask(Request(messages=(*extra[:first], *between, *extra[first:])), model=model)
        text = answer_in(reply)
        if isinstance(text, Failure):
            raise _StoppedError(replace(text, detail=f"{model}: {text.detail}"))
        return text

    def _load(self, builder: LoadTrace) -> None:
        try:
            self.items += as_conversation(column_of(str(builder.trace_column), self._rows.samples[0])).items
        except UnreadableError as unreadable:
            raise _StoppedError(unreadable.as_failure()) from None

    def _includes(self, rule: TerminateIf, text: str, loop_index: int | None) -> bool:
        part = self._text(rule.includes, loop_index)
        if not part:
            detail = "terminate_if: the text to look for is empty"
            raise _StoppedError(Failure(stage=STAGE, kind="template", detail=detail))
        return part in text

    def _text(self, template: Template, loop_index: int | None) -> str:
        seen = row_variables(replace(self._rows, traces=(Trace(tuple(self.items)),)), 0)
        variables: dict[str, Any] = {"sample": seen["sample"], "messages": seen["messages"]}
        if loop_index is not None:
            variables["loop_index"] = loop_index
        return _unless_failed(rendered(template, variables))

    def _forget_since(self, length: int) -> None:
        del self.items[length:]
        self.answers = [answer for answer in self.answers if answer[0] < length]


def _unless_failed(text: str | Failure) -> str:
    if isinstance(text, Failure):
        raise _StoppedError(text)
    return text


KIND = AskingSolverKind(settings=MultiTurnSolver, solve=multi_turn)
