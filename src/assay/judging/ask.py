"""Ask a judge; if its reply cannot be used, ask once more and name the problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from assay.judging.answers import shown
from assay.judging.json_extraction import Unreadable
from assay.judging.parse import ParsedReply
from assay.judging.prompts import wording
from assay.types import Ask, CallPurpose, Failure, FailureKind, Item, Reply, Request

Value = TypeVar("Value")
_TURNS = 2
_NOTHING = "(no reply)"
_MOST_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Generic[Value]):
    """A judge's decision with the whole reply, the number of turns, and the model's reasoning before it.

    `logprobs` are those of the reply's tokens, as the provider returned them.
    """

    value: Value
    written: str
    reasoning: str | None
    confidence: float | None
    text: str
    turns: int
    thought: str | None = None
    logprobs: Any = None


@dataclass(frozen=True, slots=True)
class _Trouble:
    kind: FailureKind
    problem: str


async def ask_judge(
    ask: Ask,
    request: Request,
    *,
    model: str,
    read: Callable[[str], ParsedReply[Value]],
    stage: str = "score",
    short: Mapping[str, Any] | None = None,
    purpose: CallPurpose = "judge",
) -> Verdict[Value] | Failure:
    """The verdict of one judge; refused, empty or unreadable twice is a failure. A CallError passes through.

    `short` is the schema of the second turn, for judges that never come to the verdict. A model that is to write
    instead of judge says so by its `purpose`.
    """
    who = "judge" if purpose == "judge" else "model"
    question = replace(request, purpose=purpose)
    turn = 1
    while True:
        reply = await ask(question, model)
        reading = _read(reply, read)
        if isinstance(reading, ParsedReply):
            return Verdict(
                value=reading.value,
                written=reading.written,
                reasoning=reading.reasoning or reply.reasoning,
                confidence=reading.confidence,
                text=reply.text or "",
                turns=turn,
                thought=reply.reasoning,
                logprobs=reply.logprobs,
            )
        if turn == _TURNS:
            wrote = f"; it wrote {shown(reply.text, _MOST_SHOWN)}" if reply.text else ""
            return Failure(
                stage=stage, kind=reading.kind, detail=f"the {who} was asked twice: {reading.problem}{wrote}"
            )
        reminder: Item = {"type": "message", "role": "user", "content": wording("again", problem=reading.problem)}
        schema = question.schema if short is None else short
        question = replace(question, messages=(*question.messages, *_reply_items(reply), reminder), schema=schema)
        turn += 1


def _read(reply: Reply, read: Callable[[str], ParsedReply[Value]]) -> ParsedReply[Value] | _Trouble:
    ending = f" (finish reason {reply.finish_reason})" if reply.finish_reason not in (None, "stop") else ""
    if reply.refusal is not None:
        return _Trouble("refusal", f"the judge refused: {reply.refusal}")
    if reply.text is None:
        return _Trouble("parse", f"the reply has no content{ending}")
    try:
        return read(reply.text)
    except Unreadable as error:
        return _Trouble("parse", f"{error}{ending}")


def _reply_items(reply: Reply) -> tuple[Item, ...]:
    """The reply as the next turn shows it; endpoints refuse messages without content."""
    text = reply.refusal or reply.text or ""
    if text.strip() and reply.refusal is None and reply.items:
        return reply.items
    return ({"type": "message", "role": "assistant", "content": text if text.strip() else _NOTHING},)
