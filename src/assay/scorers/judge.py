"""Shared parts of judge scorers: the model, the prompts, and the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from assay.judging.ask import Verdict, ask_judge
from assay.judging.response_format import Form
from assay.scorers.common import STAGE
from assay.spec.fields import Located, ScorerSpec, Template
from assay.spec.sampling import SamplingSpec
from assay.templates import texts
from assay.types import Ask, Failure, Request, Rows, Sampling

Value = TypeVar("Value")
_LEFT_TO_THE_MODEL = Sampling()


class JudgeScorerSpec(ScorerSpec):
    """A scorer that asks a model what it thinks of a sample."""

    model_key: Annotated[Located, Field(min_length=1)]
    system_prompt: Template | None = None
    user_prompt: Template
    use_structured_outputs: bool = False
    sampling: SamplingSpec | None = None


async def judged(settings: JudgeScorerSpec, rows: Rows, ask: Ask, form: Form[Value]) -> Verdict[Value] | Failure:
    """Ask the judge about one row and return its verdict in the requested form."""
    system, user = settings.system_prompt, settings.user_prompt
    rendered: list[str | None] = []
    for prompt in (system, user):
        if prompt is None:
            rendered.append(None)
            continue
        column = texts(prompt, rows, stage=STAGE)
        if column.failures:
            return column.failures[0]
        rendered.append(column.values[0])
    # whether the form is explained is asked of the prompts as written: no sample can switch the instruction off
    explained = form.explained_in(system, user)
    request = Request(
        messages=form.messages(rendered[0], rendered[1] or "", explained=explained),
        sampling=_LEFT_TO_THE_MODEL if settings.sampling is None else settings.sampling.value,
        schema=form.schema if settings.use_structured_outputs else None,
    )
    return await ask_judge(ask, request, model=str(settings.model_key), read=form.read, stage=STAGE)


def verdict_metadata(verdict: Verdict[Any]) -> dict[str, Any]:
    """Return a judge's explanation and details as metadata."""
    return {"reasoning": verdict.reasoning, "confidence": verdict.confidence}


def distinct(labels: Sequence[str], others: Sequence[str] = ()) -> None:
    """Raise ValueError unless every label has text, comes once, and is none of the others."""
    seen = {label.strip() for label in others}
    for label in labels:
        trimmed = label.strip()
        if not trimmed:
            raise ValueError("a label is empty")
        if trimmed in seen:
            raise ValueError(f'the label "{trimmed}" appears twice')
        seen.add(trimmed)
