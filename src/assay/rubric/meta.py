"""The quality of a rubric, graded by a rubric for rubrics, and its display."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from assay.errors import SpecError
from assay.grading.config import LLMConfig
from assay.grading.meta_rubric import get_in_context_meta_rubric, get_standalone_meta_rubric, grade_rubric
from assay.judging.reports import EnsembleEvaluationReport
from assay.judging.rubric import Rubric
from assay.spec.arguments import arguments_checked

__all__ = [
    "evaluate_rubric_in_context",
    "evaluate_rubric_standalone",
    "get_in_context_meta_rubric",
    "get_standalone_meta_rubric",
]

Display = Literal["stdout", "html"]


@arguments_checked({})
async def evaluate_rubric_standalone(
    rubric: Rubric,
    llm_config: LLMConfig,
    *,
    display: Display | None = None,
    output_html_path: Path | str | None = None,
) -> EnsembleEvaluationReport:
    """Grade a rubric by itself: is it clear, decidable, and free of overlap and antipatterns?

    `display` prints the verdicts ("stdout"), or writes them to `output_html_path` ("html").
    """
    _check_display(display, output_html_path)
    report = await grade_rubric(rubric, llm_config)
    show(report, f"Rubric with {len(rubric)} criteria", display, output_html_path)
    return report


@arguments_checked({})
async def evaluate_rubric_in_context(
    rubric: Rubric,
    task_prompt: str,
    llm_config: LLMConfig,
    *,
    display: Display | None = None,
    output_html_path: Path | str | None = None,
) -> EnsembleEvaluationReport:
    """Grade a rubric for a task:

    by itself, and by whether it checks everything that the task asks for and nothing else.

    `display` prints the verdicts ("stdout"), or writes them to `output_html_path` ("html").
    """
    _check_display(display, output_html_path)
    report = await grade_rubric(rubric, llm_config, task_prompt)
    show(report, f"Rubric with {len(rubric)} criteria, for its task", display, output_html_path)
    return report


def _check_display(display: str | None, path: Path | str | None) -> None:
    """Reject an unknown display before anyone is asked."""
    if display not in (None, "stdout", "html"):
        raise SpecError(f'display is "stdout", "html" or None, not "{display}"')
    if display == "html" and path is None:
        raise SpecError('display="html" needs output_html_path')
    if path is not None and not Path(path).parent.is_dir():
        raise SpecError(f"there is no folder {Path(path).parent} for output_html_path")


def show(report: EnsembleEvaluationReport, title: str, display: str | None, path: Path | str | None) -> None:
    """Print the verdicts on a rubric, or write them as a page."""
    from rich.console import Console

    from assay.report.meta_rubric import quality_table, write_page

    if display == "stdout":
        Console().print(quality_table(report, title))
    if path is not None:
        write_page(report, title, Path(path))
