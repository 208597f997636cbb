"""Asking a model for the next version of a rubric, and refusing versions that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from assay.errors import SpecError
from assay.grading.improvement import ImprovementConfig, IssueDetail, IterationResult
from assay.grading.judge_models import Clients
from assay.judging.ask import ask_judge
from assay.judging.json_extraction import Unreadable, objects_in
from assay.judging.panel import Tally
from assay.judging.parse import ParsedReply, field_of, spoken
from assay.judging.prompts import wording
from assay.judging.question import fenced
from assay.judging.rubric import Rubric
from assay.models.client import CallError
from assay.types import Failure, Request, Usage

REVISER = "revision"
"""The key of the model that writes revisions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The reviser's input: the rubric, its problems, and the outcome of earlier versions.

    `labelled` says that items have a ground truth, one label per criterion, which a revision must still fit.
    """

    rubric: Rubric
    issues: Sequence[IssueDetail]
    task_prompt: str | None = None
    evidence: str = ""
    history: Sequence[IterationResult] = ()
    labelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The next version of a rubric, or the problem that prevented one."""

    rubric: Rubric | None
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None


async def revise(clients: Clients, brief: Brief, config: ImprovementConfig) -> Revision:
    """Ask for the next version; an unusable one is requested once more, with the problem named."""
    system = config.revision_system_prompt or wording("improve")
    request = Request(
        messages=(
            {"type": "message", "role": "system", "content": system},
            {"type": "message", "role": "user", "content": _request_text(brief, config)},
        ),
        sampling=config.revision_llm.sampling,
        purpose="generate",
    )

    def read(text: str) -> ParsedReply[Rubric]:
        return read_revision(text, brief.rubric, labelled=brief.labelled)

    async with clients.asking() as ask:
        tally = Tally(ask)
        try:
            reply = await ask_judge(tally, request, model=REVISER, read=read, stage="revise", purpose="generate")
        except CallError as error:
            reply = error.failure
    rubric, problem = (None, reply.detail) if isinstance(reply, Failure) else (reply.value, None)
    cost_usd = clients.cost_usd(tally.by_model)
    return Revision(rubric=rubric, problem=problem, usage=tally.usage, cost_usd=cost_usd)


def read_revision(text: str, before: Rubric, *, labelled: bool) -> ParsedReply[Rubric]:
    """Read the rubric in a reply; raise Unreadable, with the reason, if it cannot replace `before`."""
    objects = [candidate for candidate in objects_in(spoken(text)) if field_of(candidate, "criteria") is not None]
    if not objects:
        raise Unreadable('the reply holds no JSON object with the field "criteria"')
    criteria = field_of(objects[-1], "criteria")
    if not isinstance(criteria, list):
        raise Unreadable('"criteria" must be a list')
    try:
        revised = Rubric.from_dict(criteria)
    except SpecError as error:
        raise Unreadable(f"the criteria are not a rubric: {error}") from None
    if len(set(revised.names)) < len(revised) or any(criterion.name is None for criterion in revised):
        raise Unreadable("every criterion needs a name of its own")
    if labelled:
        _require_fit(revised, before)
    sections = before.sections if len(revised) == len(before) else ()
    return ParsedReply(
        value=Rubric(revised.criteria, before.guidelines, sections=sections),
        written=text,
        reasoning=str(field_of(objects[-1], "changes") or "") or None,
    )


def _require_fit(revised: Rubric, before: Rubric) -> None:
    """Reject a revision that the human labels no longer fit."""
    if len(revised) != len(before):
        raise Unreadable(
            f"the rubric must keep its {len(before)} criteria, in their order: people labelled them; "
            f"the revision has {len(revised)}"
        )
    for number, (new, old) in enumerate(zip(revised.criteria, before.criteria, strict=True), start=1):
        labels = [[option.label.strip() for option in criterion.choices] for criterion in (new, old)]
        if labels[0] != labels[1]:
            options = ", ".join(f'"{label}"' for label in labels[1]) or "no options"
            raise Unreadable(f"criterion {number} must keep its options ({options}): people labelled items with them")
        if (new.weight < 0) != (old.weight < 0):
            raise Unreadable(f"criterion {number} must keep the sign of its weight: people labelled it as it was")


def criteria_json(rubric: Rubric) -> str:
    """The criteria as the reviser reads and writes them."""
    entries = []
    for name, criterion in zip(rubric.names, rubric.criteria, strict=True):
        entry: dict[str, Any] = {"name": name, "requirement": criterion.requirement, "weight": criterion.weight}
        if criterion.is_multi_choice:
            entry["scale_type"] = criterion.scale_type
            entry["options"] = [option.model_dump(exclude_defaults=True) for option in criterion.choices]
        entries.append(entry)
    return json.dumps(entries, indent=1, ensure_ascii=False)


def _request_text(brief: Brief, config: ImprovementConfig) -> str:
    task = "The rubric is for texts of any kind."
    if brief.task_prompt is not None:
        task = f"What the graded texts answer:\n{fenced('TASK', brief.task_prompt)}"
    if brief.rubric.guidelines is not None:
        task += f"\n\nGuidelines that all judges read; they stay as they are:\n{brief.rubric.guidelines.strip()}"
    issues = "\n".join(
        f"- {issue.criterion_name}: {issue.requirement} {issue.feedback}".strip() for issue in brief.issues
    )
    rules = "You may add, merge, split and remove criteria."
    if brief.labelled:
        rules = (
            f"People labelled texts by these {len(brief.rubric)} criteria: keep their number, their order, their "
            "options and the signs of their weights. Change how they are worded."
        )
    fields = {
        "task": task,
        "criteria": criteria_json(brief.rubric),
        "issues": issues or "(nothing is listed)",
        "evidence": brief.evidence,
        "history": _history(brief.history[-config.history_window :] if config.history_window > 0 else ()),
        "rules": rules,
    }
    template = config.revision_user_prompt_template
    return wording("improve_request", **fields) if template is None else _filled(template, fields, brief)


def _filled(template: str, fields: Mapping[str, str], brief: Brief) -> str:
    """A template of the user's with its fields; what is filled in is never read as a template."""
    values = {
        "task_prompt": brief.task_prompt or "",
        "original_criteria": fields["criteria"],
        "issues_text": fields["issues"],
        "validation_text": fields["evidence"],
        "diagnostics_text": "\n\n".join(part for part in (fields["issues"], fields["evidence"]) if part),
        "history_text": fields["history"],
        "num_criteria": str(len(brief.rubric)),
    }
    places = sorted((place, name) for name in values for place in [template.find(f"{{{name}}}")] if place >= 0)
    parts, end = [], 0
    for place, name in places:
        parts += [template[end:place], values[name]]
        end = place + len(name) + 2
    return "".join([*parts, template[end:]])


def _history(versions: Sequence[IterationResult]) -> str:
    lines = []
    for version in versions:
        verdict = "accepted" if version.accepted else f"rejected: {version.rejection_reason}"
        agreement = "" if version.agreement is None else f", agreement {version.agreement:.2f}"
        lines.append(f"- version {version.iteration}: quality {version.quality_score:.2f}{agreement}; {verdict}")
    return "\n".join(lines) or "(none)"
