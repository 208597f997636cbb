"""The verdicts of a rubric for rubrics, on a terminal and as a page."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.judging.reports import EnsembleEvaluationReport
from assay.text import clean, number

PAGE_WIDTH = 110


def quality_table(report: EnsembleEvaluationReport, title: str) -> RenderableType:
    """The score of a rubric, and the verdict and the reason for every criterion of the meta-rubric."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("criterion", "weight", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for criterion_report in report.criteria:
        criterion = criterion_report.criterion
        met = criterion_report.label == "MET"
        style = (
            "yellow"
            if criterion_report.label in (None, "CANNOT_ASSESS")
            else "green"
            if met == (criterion.weight > 0)
            else "red"
        )
        table.add_row(
            Text(clean(criterion.name or criterion.requirement, width=28)),
            Text(f"{criterion.weight:g}"),
            Text(criterion_report.label or "failed", style=style),
            Text(clean(criterion_report.reason or criterion_report.error or "")),
        )
    score = "no score" if report.score is None else f"score {number(report.score)}"
    return Group(Text(f"{clean(title)} · {score}", style="bold"), table)


def write_page(report: EnsembleEvaluationReport, title: str, path: Path) -> None:
    """Write the table as an HTML page without scripts."""
    # what is printed goes nowhere: only the record of it is wanted
    console = Console(record=True, width=PAGE_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(quality_table(report, title))
    path.write_text(console.export_html(inline_styles=True), encoding="utf-8")
