"""One self-contained file about one run or several: no script, no request, one inlined stylesheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from assay.report.charts import Bar, Chart, ranks
from assay.report.evaluation import headline
from assay.report.html.comparison_section import ComparisonSection, FlipCard
from assay.report.html.environment import inlined_stylesheet, page
from assay.report.html.run_section import RunSection, bar_of, value_axis
from assay.report.values import interval
from assay.results.run import RunReport
from assay.text import number

LARGEST = 5_000_000
"""Bytes that a report may have: it must fit into a mail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """What a report is about: its runs, how they compare, and the commands that print the same."""

    title: str
    runs: tuple[RunSection, ...]
    reports: tuple[RunReport, ...]
    comparison: ComparisonSection | None = None
    comparison_charts: tuple[Chart, ...] = ()
    flips: tuple[FlipCard, ...] = ()
    evaluation: str | None = None
    commands: tuple[str, ...] = ()

    def charts(self) -> list[Chart]:
        """Every chart of the report."""
        every = [*self.comparison_charts, *rank_charts(self.runs, self.reports)]
        return every + [chart for run in self.runs for chart in (*run.charts, *run.panel)]


def html_report(content: ReportContent) -> str:
    """The report as one HTML file; samples are left out from the end where it would be larger than 5 MB."""
    shown = max((len(run.samples_shown) for run in content.runs), default=0)
    while True:
        text = _rendered(content)
        if len(text.encode()) <= LARGEST or shown == 0:
            return text
        shown //= 2
        content = replace(content, runs=tuple(_with_fewer(run, shown) for run in content.runs))


def _with_fewer(run: RunSection, most: int) -> RunSection:
    note = f"The first {most:,}; the others would make this file too large. `assay samples {run.id}` lists all."
    if len(run.samples_shown) <= most:
        return run
    return replace(run, samples_shown=run.samples_shown[:most], samples_note=note)


def _rendered(content: ReportContent) -> str:
    css, digest = inlined_stylesheet()
    return page(
        "report.html",
        css=css,
        digest=digest,
        title=content.title,
        now=datetime.now(UTC).isoformat(),
        runs=content.runs,
        charts=[*content.comparison_charts, *rank_charts(content.runs, content.reports)],
        comparison=content.comparison,
        flips=content.flips,
        evaluation=None if content.evaluation is None else _overview(content),
        commands=content.commands,
    )


def _overview(content: ReportContent) -> dict[str, Any]:
    rows = [
        {
            "specification": run.name or run.id,
            "model": run.model,
            "label": label,
            "value": number(value.value),
            "bounds": interval(value.interval) if value.value is not None else value.reason,
            "n": f"{value.n:,}",
        }
        for run, report in zip(content.runs, content.reports, strict=True)
        for label, value in headline(report)
    ]
    return {"title": content.evaluation, "rows": rows}


def rank_charts(runs: Sequence[RunSection], reports: Sequence[RunReport]) -> list[Chart]:
    """Where several runs have a headline value of the same name: who is ahead, by how much, how surely."""
    bars: dict[str, list[Bar]] = {}
    for run, report in zip(runs, reports, strict=True):
        label = run.name or f"{run.title} {run.id[:6]}"
        for name, value in headline(report):
            if value.value is not None and value_axis([value]) == (0.0, 1.0):
                bars.setdefault(name, []).append(bar_of(label, value))
    return [
        ranks(lines, name=f"ranks-{name}", title=f"Runs by {name}") for name, lines in bars.items() if len(lines) > 1
    ]
