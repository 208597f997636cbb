"""Reports of stored runs: one file to hand over, and figures for papers."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from assay.analysis.compare import CompareOptions, compare_runs
from assay.analysis.distributions import panel_summaries, score_distributions
from assay.analysis.sample_query import SampleQuery, query_samples, worst_flips
from assay.api.compare import RUN_ARGUMENT
from assay.api.labels import corrections_of
from assay.api.result import Result
from assay.api.stored import all_runs, find, read_project_store, report_of
from assay.errors import SpecError
from assay.report.charts import Chart
from assay.report.html.comparison_section import comparison_chart, comparison_section, flip_card
from assay.report.html.document import ReportContent, html_report
from assay.report.html.figures import correction_charts, distribution_charts, panel_charts
from assay.report.html.run_section import RunSection, run_section
from assay.report.html.sample_section import sample_section
from assay.report.tables import latex_report, markdown_report
from assay.results.run import RunReport
from assay.spec import arguments
from assay.store.decoder import read_samples
from assay.store.runs import RunRecord
from assay.store.store import Store

Format = Literal["html", "md", "latex"]
FORMATS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".tex": "latex"}
SAMPLES_SHOWN = 200
FLIPS_SHOWN = 25
PANEL_ITEMS = 20_000
"""The number of samples in the picture of a panel; more would not change it."""
_WRITERS = {"html": html_report, "md": markdown_report, "latex": latex_report}


@arguments.arguments_checked(
    {
        "runs": RUN_ARGUMENT,
        "to": arguments.PATH,
        "format": arguments.one_of(["html", "md", "latex"]),
        "figures": arguments.PATH,
        "store": arguments.TEXT,
    }
)
def write_report(
    *runs: str | Result,
    to: str | Path = "report.html",
    format: Format | None = None,  # noqa: A002 - the word users know
    figures: str | Path | None = None,
    store: str | None = None,
) -> Path:
    """Write a report of one run or several to a file; the same as `assay report`.

    The format follows the ending of the file: .html, .md or .tex. `figures` is a folder for the charts as SVG files.
    """
    locations = [run.location for run in runs if not isinstance(run, str)]
    names = [run if isinstance(run, str) else run.run for run in runs] or ["latest"]
    opened = read_project_store(store or (locations[0] if locations else None), names)
    try:
        content = report_content(opened, names)
    finally:
        opened.close()
    path = Path(to)
    _write(path, report_text(content, format or format_of(path)))
    if figures is not None:
        write_figures(content, Path(figures))
    return path


def format_of(path: Path) -> Format:
    """Return the report format for a file's extension."""
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        raise SpecError(f'"{path.name}" has no ending of a report: use .html, .md or .tex, or give --format') from None


def report_text(content: ReportContent, format: Format) -> str:  # noqa: A002 - the word users know
    """A report in one of its formats."""
    return _WRITERS[format](content)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SpecError(f"cannot write {path}: {error.strerror or error}") from error


def report_content(store: Store, names: Sequence[str]) -> ReportContent:
    """Collect the content of a report; the name of an evaluation means the newest run of each specification."""
    evaluation = _evaluation_runs(store, names)
    records = evaluation if evaluation is not None else [find(store, name) for name in names]
    reports = [report_of(store, record) for record in records]
    sections = tuple(_section(store, record, report) for record, report in zip(records, reports, strict=True))
    title = sections[0].title if len(sections) == 1 else f"{len(sections)} runs: {sections[0].title}"
    words = " ".join(names)
    content = ReportContent(
        title=names[0] if evaluation is not None else title,
        runs=sections,
        reports=tuple(reports),
        evaluation=names[0] if evaluation is not None else None,
        commands=(f"assay report {words}", *(f"assay show {record.id}" for record in records[:3])),
    )
    return content if evaluation is not None or len(records) < 2 else _compared(store, records, content)


def _evaluation_runs(store: Store, names: Sequence[str]) -> list[RunRecord] | None:
    """The runs of an evaluation, where one name is that of an evaluation and of no run."""
    if len(names) != 1:
        return None
    parts: dict[str, RunRecord] = {}
    for record in all_runs(store, None):
        if record.evaluation == names[0] and record.specification is not None and not record.repeat and record.summary:
            parts.setdefault(record.specification, record)
    return list(reversed(parts.values())) or None


def _section(store: Store, record: RunRecord, report: RunReport) -> RunSection:
    charts = distribution_charts(score_distributions(store, record))
    voted = any(scorer.rubrics for scorer in record.spec.scorers)
    panel = list(panel_charts(panel_summaries(islice(read_samples(store, record), PANEL_ITEMS)))) if voted else []
    corrected = corrections_of(store, record)
    charts += correction_charts(corrected.values())
    section = run_section(record, report, charts=charts, panel=panel, corrected=corrected)
    total = report.n_samples * report.trials
    samples = [sample_section(sample, record.spec) for sample in _samples_shown(store, record, total)]
    note = f"All {total:,}, failed and wrong ones first."
    if len(samples) < total:
        note = f"{len(samples):,} of {total:,}, failed and wrong ones first; `assay samples {record.id}` lists all."
    return replace(section, samples_shown=samples, samples_note=note)


def _samples_shown(store: Store, record: RunRecord, total: int) -> list[Any]:
    """The samples that a reader wants to see first: failed or wrong ones, then the others in their order."""
    interesting = SampleQuery(failed=True, wrong=True, limit=SAMPLES_SHOWN)
    # whether anything is wrong takes a look at every sample: for a very large run only at the first ones
    chosen = list(query_samples(store, record, interesting)) if total <= PANEL_ITEMS else []
    addresses = {(sample.sample_id, sample.trial, sample.position) for sample in chosen}
    for sample in query_samples(store, record, SampleQuery(limit=SAMPLES_SHOWN)):
        if len(chosen) >= SAMPLES_SHOWN:
            break
        if (sample.sample_id, sample.trial, sample.position) not in addresses:
            chosen.append(sample)
    return chosen


def _compared(store: Store, records: Sequence[RunRecord], content: ReportContent) -> ReportContent:
    """The same report with a comparison, where the runs share a mean."""
    try:
        comparison = compare_runs(store, list(records), CompareOptions())
    except SpecError:
        # runs of different tasks share no metric: the report shows them side by side
        return content
    names = {run.letter: run.name or f"{run.letter} {run.run}" for run in comparison.runs}
    flips = worst_flips(store, records, comparison, FLIPS_SHOWN)
    return replace(
        content,
        comparison=comparison_section(comparison),
        comparison_charts=(comparison_chart(comparison),),
        flips=tuple(flip_card(flip, names) for flip in flips[:FLIPS_SHOWN]),
        commands=(*content.commands, f"assay compare {' '.join(record.id for record in records)}"),
    )


def write_figures(content: ReportContent, folder: Path) -> list[Path]:
    """Write each chart as SVG, and as PNG and PDF where rsvg-convert or inkscape is installed."""
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, chart in enumerate(content.charts(), start=1):
            path = folder / f"{number:02}-{_file_name(chart)}.svg"
            path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{chart.svg}\n', encoding="utf-8")
            paths += [path, *_converted(path)]
    except OSError as error:
        raise SpecError(f"cannot write to {folder}: {error.strerror or error}") from error
    return paths


def _file_name(chart: Chart) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", chart.name).strip("-.")[:60] or "chart"


def _converted(path: Path) -> list[Path]:
    converter = shutil.which("rsvg-convert")
    if converter is None:
        return []
    images = []
    for ending in ("png", "pdf"):
        target = path.with_suffix(f".{ending}")
        # the arguments are ours: a found program and two paths
        subprocess.run([converter, "-f", ending, "-o", str(target), str(path)], check=False, timeout=60)  # noqa: S603
        images += [target] if target.exists() else []
    return images
