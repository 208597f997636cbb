"""The common parts of solvers that call a model: rendering messages and reading replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from assay.errors import TemplateFailure
from assay.spec.fields import Settings, SolverSpec, Template
from assay.spec.sampling import SamplingSpec
from assay.templates import render_text
from assay.types import Failure, Item, Reply

STAGE = "solve"
Role = Literal["system", "developer", "user", "assistant"]


class AskingSolverSpec(SolverSpec):
    """The settings that every solver that calls a model accepts."""

    sampling: SamplingSpec = SamplingSpec()


class InputMessage(Settings):
    """A message of a prompt; its content is a template."""

    role: Role
    content: Template


def message(role: str, text: str) -> Item:
    """A message as it joins a conversation."""
    return {"type": "message", "role": role, "content": text}


def rendered(template: Template, variables: Mapping[str, Any]) -> str | Failure:
    """Render a template with these variables; return the text, or the failure."""
    try:
        return render_text(template, variables)
    except TemplateFailure as error:
        return Failure(stage=STAGE, kind="missing_field" if error.missing else "template", detail=str(error))


def answer_in(reply: Reply) -> str | Failure:
    """The text of a reply; a refusal or a reply without content is a failure, never an answer.

    A reply that only calls functions has no text, and is an answer all the same.
    """
    if reply.refusal is not None:
        return Failure(stage=STAGE, kind="refusal", detail=reply.refusal)
    if reply.has_content:
        return reply.text or ""
    reason = f" (finish reason {reply.finish_reason})" if reply.finish_reason else ""
    return Failure(stage=STAGE, kind="parse", detail=f"the reply has no content{reason}")


def reply_items(reply: Reply) -> tuple[Item, ...]:
    """The reply as it joins the conversation."""
    return reply.items or (message("assistant", reply.text or ""),)
