"""Results as a notebook shows them: tables and charts with presentational attributes only, no style and no script."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from assay.report.charts import Chart
from assay.report.compare import words
from assay.report.html.comparison_section import comparison_chart
from assay.report.html.environment import visible
from assay.report.html.run_section import run_charts
from assay.report.table import samples_of
from assay.report.values import interval, remark
from assay.results.comparison import Comparison
from assay.results.run import RunReport
from assay.text import number


def run_fragment(report: RunReport) -> str:
    """The metrics of a run as a table, and its charts."""
    rows = [
        (
            f"{scorer.key}/{metric.key}/{name}",
            number(value.value),
            interval(value.interval) if value.value is not None else remark(value),
            f"{value.n:,}",
        )
        for scorer in report.scorers
        for metric in scorer.metrics
        for name, value in metric.result.values.items()
    ]
    failed = f", {report.n_failed:,} with failures" if report.n_failed else ""
    head = f"{report.display_name or report.task} · run {report.run} · {report.status} · {samples_of(report)}{failed}"
    charts = _drawn(list(run_charts(report))[:4])
    return str(_paragraph(head) + _table(("metric", "value", "interval", "n"), rows) + charts)


def comparison_fragment(comparison: Comparison) -> str:
    """The verdicts of a comparison in words, and the differences as a forest plot."""
    lines = Markup("").join(
        _paragraph(f"{compared.address}: {words(compared, comparison)}") for compared in comparison.compared
    )
    runs = [(run.letter, run.run, run.name or "", run.task, run.model or "") for run in comparison.runs]
    return str(_table(("", "run", "name", "task", "model"), runs) + lines + _drawn([comparison_chart(comparison)]))


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(visible(text))


def _drawn(charts: Sequence[Chart]) -> Markup:
    # drawn by our own charts, which escape their texts
    return Markup("").join(Markup("<p>{}</p>").format(Markup(chart.svg)) for chart in charts)  # noqa: S704


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in heads)
    lines = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(visible(cell)) for cell in row))
        for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, lines)
