"""Rubrics that grade rubrics: by themselves, or against the task that they are for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from assay.errors import SpecError
from assay.grading.config import JudgeSpec, LLMConfig
from assay.grading.grader import ONE_JUDGE, CriterionGrader
from assay.judging.reports import EnsembleCriterionReport, EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.judging.total import Section, value_of


def get_standalone_meta_rubric() -> Rubric:
    """Return the rubric for grading a rubric on its own: wording, structure, and antipatterns as negative criteria.

    >>> rubric = get_standalone_meta_rubric()
    >>> [name for name, criterion in zip(rubric.names, rubric.criteria) if criterion.weight < 0][:2]
    ['joined_demands', 'empty_words']
    """
    return _read("standalone")


def get_in_context_meta_rubric() -> Rubric:
    """The rubric that grades a rubric for a task: that of `get_standalone_meta_rubric`, and the fit to the task."""
    alone, task = _read("standalone"), _read("task")
    shift = len(alone)
    later = [Section(name=s.name, start=s.start + shift, stop=s.stop + shift) for s in task.sections]
    return Rubric([*alone.criteria, *task.criteria], alone.guidelines, sections=[*alone.sections, *later])


@lru_cache
def _read(name: str) -> Rubric:
    text = files("assay.grading").joinpath("meta_rubrics", f"{name}.yaml").read_text(encoding="utf-8")
    return Rubric.from_text(text, f"{name}.yaml")


def written(rubric: Rubric) -> str:
    """A rubric as a judge of rubrics reads it: numbered criteria with weights and options.

    >>> print(written(Rubric.from_dict([{"name": "polite", "requirement": "Is polite.", "weight": 3}])))
    1. polite (weight 3): Is polite.
    """
    lines = [] if rubric.guidelines is None else [f"Guidelines for all criteria: {rubric.guidelines.strip()}", ""]
    for number, (name, criterion) in enumerate(zip(rubric.names, rubric.criteria, strict=True), start=1):
        lines.append(f"{number}. {name} (weight {criterion.weight:g}): {criterion.requirement.strip()}")
        if criterion.is_multi_choice:
            lines.append(f"   {criterion.scale_type} options:")
            lines += [
                f"   - {option.label.strip()} ({'cannot be judged' if option.na else f'worth {option.value:g}'})"
                for option in criterion.choices
            ]
    return "\n".join(lines)


async def grade_rubric(
    rubric: Rubric, judge: LLMConfig | Sequence[JudgeSpec], task_prompt: str | None = None
) -> EnsembleEvaluationReport:
    """Grade a rubric with a judge or a panel, optionally in the context of a task."""
    if task_prompt is not None and not task_prompt.strip():
        raise SpecError("the task prompt is empty: evaluate_rubric_standalone grades a rubric without a task")
    meta = get_standalone_meta_rubric() if task_prompt is None else get_in_context_meta_rubric()
    panel = [JudgeSpec(judge, ONE_JUDGE)] if isinstance(judge, LLMConfig) else judge
    # no criterion has options, so that no order is drawn: any seed gives the same questions
    grader = CriterionGrader(judges=panel, seed=0)
    return await grader.grade(written(rubric), meta, task_prompt)


def flaws(report: EnsembleEvaluationReport) -> list[EnsembleCriterionReport]:
    """The criteria by which a rubric lost something: merits that it lacks, and faults that it has."""
    lost: list[EnsembleCriterionReport] = []
    for criterion_report in report.criteria:
        value = (
            value_of(criterion_report.criterion, criterion_report.verdict) if criterion_report.error is None else None
        )
        if value is not None and (value > 0 if criterion_report.criterion.weight < 0 else value < 1):
            lost.append(criterion_report)
    return lost
