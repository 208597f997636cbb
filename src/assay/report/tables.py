"""Metrics of runs and their differences as Markdown for pull requests and as LaTeX for papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.report.html.comparison_section import ComparisonSection
from assay.report.html.document import ReportContent
from assay.report.markdown import plain
from assay.text import clean

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def markdown_report(content: ReportContent) -> str:
    """The verdicts, the metrics of every run with their intervals, and what is not in them."""
    lines = [f"## {plain(content.title)}", ""]
    if content.comparison is not None:
        lines += [*_markdown_comparison(content.comparison), ""]
    for run in content.runs:
        name = f" ({plain(run.name)})" if run.name else ""
        lines += [f"### {plain(run.title)}{name}", "", f"Run `{run.id}` · {run.status} · {plain(run.samples)}", ""]
        rows = [(row.label, row.value, row.bounds, row.n, row.note) for section in run.sections for row in section.rows]
        if rows:
            lines += _markdown_table(("metric", "value", "interval", "n", "note"), rows)
        lines += ["", *(f"- {plain(line.text)}" for line in run.missing), ""]
    lines += [f"`{command}`" for command in content.commands]
    return "\n".join(lines) + "\n"


def _markdown_comparison(comparison: ComparisonSection) -> Iterator[str]:
    yield from (f"- **{run.letter}** {plain(run.words)}" for run in comparison.runs)
    yield ""
    yield from (f"**{plain(entry.head)}** ({plain(entry.words)})\n" for entry in comparison.compared)
    rows = [(e.address, e.before, e.after, e.difference, e.verdict) for e in comparison.compared]
    yield from _markdown_table(("metric", "baseline", "run", "difference", "verdict"), rows)
    yield from (f"\n> {plain(note)}" for note in comparison.notes)


def _markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows)


def latex_report(content: ReportContent) -> str:
    """One `tabular` per run and one for the differences, for `\\input`; needs the package booktabs."""
    parts = []
    for run in content.runs:
        rows = [
            (f"\\quad {latex(row.label)}" if row.is_part else latex(row.label), row.value, row.bounds, row.n)
            for section in run.sections
            for row in section.rows
        ]
        parts.append(f"% run {run.id}\n" + _tabular(("Metric", "Value", "95\\% CI", "$n$"), rows, "lrrr"))
    if content.comparison is not None:
        compared = [
            (latex(f"{entry.letter}: {entry.address}"), entry.before, entry.after, latex(entry.difference))
            for entry in content.comparison.compared
        ]
        parts.append("% differences\n" + _tabular(("Metric", "Baseline", "Run", "Difference"), compared, "lrrr"))
    return "\n".join(parts)


def _tabular(heads: Sequence[str], rows: Iterable[Sequence[str]], columns: str) -> str:
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", f"{' & '.join(heads)} \\\\", "\\midrule"]
    lines += [f"{' & '.join(row)} \\\\" for row in rows]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def latex(text: str) -> str:
    """Foreign text as LaTeX shows it.

    >>> latex("50% of a_b")
    '50\\\\% of a\\\\_b'
    """
    return _SPECIAL.sub(lambda match: _LATEX[match[0]], clean(text))
