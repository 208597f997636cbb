"""What all solvers that ask a model share: messages to render, replies to read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from assay.spec.fields import Settings, SolverSpec, Template
from assay.types import Failure, Item, Reply, Sampling

Role = Literal["system", "developer", "user", "assistant"]


class SamplingSpec(Settings):
    """How the model is to choose its words; what is not set is left to the model."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None

    def as_sampling(self) -> Sampling:
        """The same as a value that travels."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            stop=None if self.stop is None else tuple(self.stop),
            reasoning_effort=self.reasoning_effort,
        )


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
