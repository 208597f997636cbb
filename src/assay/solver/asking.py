"""What all solvers that ask a model share: messages to render, replies to read."""

from __future__ import annotations

from typing import Literal

from assay.spec.fields import Settings, SolverSpec, Template
from assay.spec.sampling import SamplingSpec
from assay.types import Failure, Item, Reply

Role = Literal["system", "developer", "user", "assistant"]


class AskingSolver(SolverSpec):
    """What every solver that asks a model accepts."""

    sampling: SamplingSpec = SamplingSpec()


class InputMessage(Settings):
    """A message of a prompt; its content is a template."""

    role: Role
    content: Template


def answer_in(reply: Reply) -> str | Failure:
    """The text of a reply; a refusal or a reply without content is a failure, never an answer."""
    if reply.refusal is not None:
        return Failure(stage="solve", kind="refusal", detail=reply.refusal)
    if reply.text is None:
        reason = f" (finish reason {reply.finish_reason})" if reply.finish_reason else ""
        return Failure(stage="solve", kind="parse", detail=f"the reply has no content{reason}")
    return reply.text


def said(reply: Reply) -> tuple[Item, ...]:
    """The reply as it joins the conversation."""
    return reply.items or ({"type": "message", "role": "assistant", "content": reply.text},)
