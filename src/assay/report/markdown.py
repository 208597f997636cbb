"""A gate as Markdown, for the summary of a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from assay.report.confusion import confusion_of
from assay.report.gate import gate_notes, reason_of
from assay.report.values import interval, remark
from assay.results.gate import Check, Gate
from assay.results.run import RunReport
from assay.text import clean, counted, number

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~@-])")
NUMBERS_SHOWN = 20
CLASSES_SHOWN = 20


def gate_markdown(gate: Gate) -> str:
    """Build the verdict, the rules, and the headline metrics with their intervals."""
    report = gate.report
    word = "✅ PASS" if gate.passed else "❌ FAIL"
    model = f" · {plain(report.model)}" if report.model else ""
    lines = [f"### {word}: {plain(report.display_name or report.task)}{model}", ""]
    against = f" against run `{gate.baseline}`" if gate.baseline else ""
    failed = f", {report.n_failed:,} with failures" if report.n_failed else ""
    state = "" if report.status == "completed" else f" (**{report.status}**)"
    lines += [f"Run `{report.run}`{state}{against}: {counted(report.n_samples, 'sample')}{failed}.", ""]
    lines += ["| | rule | | n | failed | excluded | INVALID |", "|---|---|---|---:|---:|---:|---:|"]
    lines += [
        f"| {'✅' if check.passed else '❌'} | {plain(check.rule)} | {plain(reason_of(check))} | {_counts(check)} |"
        for check in gate.checks
    ]
    notes = gate_notes(gate)
    lines += [""] * bool(notes) + [f"- **note**: {plain(note)}" for note in notes]
    return "\n".join([*lines, "", *_numbers(report), *_matrices(report), ""])


def _counts(check: Check) -> str:
    """The cells that count samples; behind a slash those of the baseline."""
    sides = [check.counts] if check.baseline_counts is None else [check.counts, check.baseline_counts]
    rows = [(side.n, side.failed, side.excluded, side.invalid) for side in sides]
    return " | ".join(
        "" if set(column) == {None} else " / ".join("" if n is None else f"{n:,}" for n in column)
        for column in zip(*rows, strict=True)
    )


def _numbers(report: RunReport) -> Iterator[str]:
    rows = list(_rows(report))
    if not rows:
        return
    yield "| number | value | interval | n |"
    yield "|---|---:|---|---:|"
    yield from rows[:NUMBERS_SHOWN]
    if len(rows) > NUMBERS_SHOWN:
        yield ""
        yield f"{len(rows) - NUMBERS_SHOWN} more numbers: `assay show {report.run}`"


def _rows(report: RunReport) -> Iterator[str]:
    for scorer in (scorer_report for scorer_report in report.scorers if scorer_report.purpose == "score"):
        for metric in scorer.metrics:
            for name, value in metric.result.values.items():
                note = remark(value)
                interval_text = interval(value.interval) + (f" ({plain(note)})" if note else "")
                address = plain(f"{scorer.key}/{metric.key}/{name}")
                yield f"| {address} | {number(value.value)} | {interval_text} | {value.n:,} |"


def _matrices(report: RunReport) -> Iterator[str]:
    """The confusion matrices of classification metrics."""
    for scorer in (scorer_report for scorer_report in report.scorers if scorer_report.purpose == "score"):
        for metric in scorer.metrics:
            confusion = confusion_of(metric)
            if confusion is None:
                continue
            address = plain(f"{scorer.key}/{metric.key}")
            yield f"\nConfusion matrix of {address} (ground truth in rows, predictions in columns)\n"
            if len(confusion.names) > CLASSES_SHOWN:
                mistakes = plain("; ".join(confusion.mistakes()) or "none")
                yield f"{len(confusion.names)} classes; most frequent mistakes: {mistakes}"
                continue
            names = [plain(name) for name in confusion.names]
            yield f"| | {' | '.join(names)} |"
            yield f"|---|{'---:|' * len(names)}"
            for name, row in zip(names, confusion.counts, strict=True):
                yield f"| {name} | {' | '.join(f'{n:,}' for n in row)} |"


def plain(text: str) -> str:
    """Escape foreign text for one line of Markdown: no markup, no HTML, no mentions.

    >>> plain("a|b <img> _c_")
    'a\\\\|b &lt;img&gt; \\\\_c\\\\_'
    """
    return html.escape(_SPECIAL.sub(r"\\\1", clean(text)), quote=False)
