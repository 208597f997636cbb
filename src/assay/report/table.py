"""The metrics of a run as a table of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from assay.report.confusion import confusion_lines
from assay.report.values import interval, remark
from assay.results.run import MetricReport, RunReport, ScorerReport
from assay.text import clean, counted, number
from assay.types import MetricValue, Spending

GROUPS_SHOWN = 30
IDS_SHOWN = 8
LONGEST_REMARK = 24
"""The length above which a remark becomes a numbered footnote."""
EMPTY = "(empty)"
SYSTEM = "system_task"
"""The type of what looks at a system and scores no samples."""


def run_table(report: RunReport) -> RenderableType:
    """Build the summary of a finished run."""
    parts: list[RenderableType] = [Text.from_markup(line) for line in _head(report)]
    for purpose, title in (("score", None), ("qa", "Quality checks (not part of the headline)")):
        scorers = [scorer for scorer in report.scorers if scorer.purpose == purpose]
        if scorers and title:
            parts.append(Text(f"\n{title}", style="bold"))
        parts.extend(_scorer_table(scorer) for scorer in scorers)
    parts.extend(Text(line, style="dim") for line in spending_lines(report.spending))
    if not report.scorers:
        parts.append(Text("The task has no scorers: the answers are stored, nothing was scored."))
    return Group(*parts)


def _head(report: RunReport) -> Iterator[str]:
    title = escape(clean(report.display_name or report.task, width=60))
    model = f" · {escape(clean(report.model, width=40))}" if report.model else ""
    yield f"[bold]{title}[/bold]{model}"
    # a system task has none
    counts = [samples_of(report)] if report.n_samples else []
    if report.n_failed:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(report.failures.items()))
        counts.append(f"[yellow]{report.n_failed:,} with failures ({kinds})[/yellow]")
    if report.n_cut:
        counts.append(f"[yellow]{report.n_cut:,} cut off at max_tokens[/yellow]")
    if report.excluded:
        rules = ", ".join(f"{escape(clean(key, width=30))} {n:,}" for key, n in report.excluded.items())
        counts.append(f"excluded by {rules}")
    if report.n_cached:
        counts.append(f"{report.n_cached:,} reused{reused_from(report.reused_from)}")
    status = "" if report.status == "completed" else f" · [red]{report.status}[/red]"
    yield f"{' · '.join([f'run {report.run}', *counts])}{status}"


def reused_from(run_ids: Sequence[str]) -> str:
    """The runs that something was reused from, to be put behind "reused"; the newest is named, the others counted.

    >>> reused_from(["e961c48ced5e", "0721a9639a5f", "44fd0a9f6dcb"])
    ' from e961c48ced5e and 2 other runs'
    """
    if not run_ids:
        return ""
    others = len(run_ids) - 1
    return f" from {run_ids[0]}" + (f" and {counted(others, 'other run')}" if others else "")


def samples_of(report: RunReport) -> str:
    """Describe the number of samples of a run, and of rows made from them."""
    if report.n_sources is None:
        return counted(report.n_samples, "sample")
    return f"{counted(report.n_samples, 'row')} of {counted(report.n_sources, 'sample')}"


def spending_lines(spending: Sequence[Spending]) -> Iterator[str]:
    """Describe the spending, one line per model and purpose."""
    for place, spent in enumerate(spending):
        cost = "cost unknown (no price for this model)" if spent.cost_usd is None else f"${spent.cost_usd:,.4f}"
        tokens = f"{spent.usage.prompt_tokens:,} + {spent.usage.completion_tokens:,} tokens"
        line = f"{clean(spent.model, width=30)} ({spent.purpose}): {counted(spent.n_calls, 'call')}, {tokens}, {cost}"
        if spent.n_usage_missing:
            replies = "1 reply" if spent.n_usage_missing == 1 else f"{spent.n_usage_missing:,} replies"
            line += f"; usage missing in {replies}, charged with the most it could be"
        yield line if place else f"\n{line}"


def _scorer_table(scorer: ScorerReport) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", title_justify="left")
    name = clean(scorer.display_name or scorer.key, width=40)
    head = Text.assemble("\n", (name, "bold cyan"), (f"  {_counts(scorer)}", "dim"))
    table.add_column("", overflow="fold", min_width=10, max_width=34)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(_level_title(scorer), justify="left", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("method", style="dim", overflow="fold")
    notes: dict[str, int] = {}
    for metric in scorer.metrics:
        _add_metric(table, metric, _heading(metric, scorer.metrics), notes)
        if metric is scorer.metrics[0] and scorer.n_invalid:
            _add_invalid(table, (scorer.detail or {})["invalid"])
    body: RenderableType = Trimmed(table) if scorer.metrics else Text("  no metrics requested", style="dim")
    matrices = (Trimmed(line) for metric in scorer.metrics for line in confusion_lines(metric))
    below = (Text(f"({mark}) {clean(note)}", style="dim") for note, mark in notes.items())
    warnings = (Text(f"note: {clean(note)}", style="yellow") for note in (scorer.detail or {}).get("warnings", ()))
    return Group(head, body, *matrices, *below, *_disputes(scorer), *warnings)


def _add_invalid(table: Table, counts: Mapping[str, Any]) -> None:
    """Add the number of INVALID multiple-choice replies and the accuracy without them."""
    share = f"{counts['n']:,} of {counts['of']:,} ({counts['share']:.1%})"
    table.add_row(Text("  INVALID replies", style="yellow"), "", Text(share, style="yellow"))
    among = Text(number(counts["accuracy_among_valid"]), style="dim")
    table.add_row(Text("  among valid replies", style="dim"), among, "", f"{counts['of'] - counts['n']:,}")


def _counts(scorer: ScorerReport) -> str:
    """Describe how many samples were scored; empty for values that are not over samples."""
    parts = {
        "scored": scorer.n_scored,
        "failed": scorer.n_failed,
        "INVALID": scorer.n_invalid,
        "excluded": scorer.n_excluded,
    }
    count_texts = [
        f"{n:,} {status}" for status, n in parts.items() if n or (status == "scored" and scorer.type != SYSTEM)
    ]
    return ", ".join(count_texts)


def _heading(metric: MetricReport, metrics: Sequence[MetricReport]) -> str | None:
    """Return the heading of a metric whose values' names alone would be ambiguous."""
    if len(metric.result.values) < 2:
        return None
    others = [other for other in metrics if other is not metric]
    names = {name.casefold() for name in metric.result.values}
    doubtful = any(
        len(other.result.values) > 1 or names & {name.casefold() for name in other.result.values} for other in others
    )
    return metric.display_name or (metric.key if doubtful else None)


def _disputes(scorer: ScorerReport) -> Iterator[RenderableType]:
    """Describe the disagreements between the readers of multiple-choice replies."""
    disputes = (scorer.detail or {}).get("disputes")
    if not disputes:
        return
    ids = ", ".join(clean(sample_id, width=20) for sample_id in disputes["disputed"][:IDS_SHOWN])
    more = len(disputes["disputed"]) - IDS_SHOWN
    names = f": {ids}" + (f" (+{more} more)" if more > 0 else "") if ids else ""
    yield Text(f"disputed by the readers: {len(disputes['disputed']):,} of {disputes['n']:,}{names}")
    readers = ", ".join(f"{clean(name)} {number(value)}" for name, value in disputes["accuracy"].items())
    yield Text(f"accuracy if one reader decided: {readers}", style="dim")


def _level_title(scorer: ScorerReport) -> str:
    for metric in scorer.metrics:
        for value in metric.result.values.values():
            if value.interval is not None:
                return f"{value.interval.level:.0%} interval".replace("%", " %")
    return "interval"


def _add_metric(table: Table, metric: MetricReport, heading: str | None, notes: dict[str, int]) -> None:
    result, indent = metric.result, ""
    if heading is not None:
        table.add_row(Text(clean(heading, width=34), style="dim"))
        indent = "  "
    rows = {_row_name(metric, name): value for name, value in result.values.items()}
    # what an accuracy must beat stands below it, wherever other values come behind
    first = dict(list(rows.items())[:1]) if "baseline" in result.detail else rows
    left_out = f"{result.n_excluded:,} excluded" if result.n_excluded else ""
    _add_values(table, first, indent, notes, left_out)
    for label, value in _extra_values(result.detail):
        table.add_row(Text(f"{indent}  {label}", style="dim"), Text(number(value), style="dim"))
    _add_values(table, {name: value for name, value in rows.items() if name not in first}, indent, notes, left_out)
    if result.detail.get("n_unmatched"):
        table.add_row(Text(f"{indent}  ({result.detail['n_unmatched']:,} unmatched predictions counted)", style="dim"))
    for low, high in result.detail.get("if_failed", {}).values():
        bounds = Text(f"{number(low)} to {number(high)}", style="dim")
        table.add_row(Text(f"{indent}  with the failed at worst/best", style="dim"), "", bounds)
    for part, n in result.detail.get("n_without", {}).items():
        table.add_row(Text(f"{indent}  ({n:,} without a {part})", style="yellow"))
    if result.groups is not None:
        _add_groups(table, result.groups, f"{indent}  ", notes)


def _extra_values(detail: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the reference values of a metric: guessing, the most frequent class, and noise."""
    baseline, noise = detail.get("baseline"), detail.get("noise")
    if baseline is not None:
        label = clean(str(baseline["majority_class"]), width=20)
        yield "by chance", baseline["chance"]
        yield f"always {label or EMPTY}", baseline["majority"]
    if noise is not None and noise["floor"]["value"] is not None:
        yield "noise floor", noise["floor"]["value"]
        yield "chance difference of two runs", noise["difference_by_luck"]["value"]


def _row_name(metric: MetricReport, name: str) -> str:
    if metric.display_name is not None and len(metric.result.values) == 1:
        return metric.display_name
    # a frequency is called after its field and the label: one that is empty leaves a bare underscore
    return f"{name}{EMPTY}" if metric.type == "frequency" and name.endswith("_") else name


def _add_groups(
    table: Table, groups: Mapping[str, Mapping[str, MetricValue]], indent: str, notes: dict[str, int]
) -> None:
    for group, values in list(groups.items())[:GROUPS_SHOWN]:
        title = clean(group, width=30) or EMPTY
        if len(values) == 1:
            _add_values(table, {title: next(iter(values.values()))}, indent, notes)
        else:
            table.add_row(Text(f"{indent}{title}", style="italic"))
            _add_values(table, values, f"{indent}  ", notes)
    hidden = len(groups) - GROUPS_SHOWN
    if hidden > 0:
        table.add_row(Text(f"{indent}(+{hidden} more groups: --json)", style="dim"))


def _add_values(
    table: Table, values: Mapping[str, MetricValue], indent: str, notes: dict[str, int], left_out: str = ""
) -> None:
    """Add a row per value; the number of excluded samples is part of the row."""
    for name, value in values.items():
        method = value.interval.method if value.interval is not None and value.value is not None else ""
        note = remark(value)
        if len(note) > LONGEST_REMARK:
            note = f"({notes.setdefault(note, len(notes) + 1)})"
        remarks = Text("; ".join(part for part in (method, note, left_out) if part and part != "none"))
        style = "yellow" if value.value is None else "bold"
        table.add_row(
            Text(f"{indent}{clean(name) or EMPTY}"),
            Text(number(value.value), style=style),
            Text("" if value.value is None else interval(value.interval)),
            # a number that no sample led to is of a system task
            Text(f"{value.n:,}" if value.n or value.value is None else ""),
            remarks,
        )


class Trimmed:
    """Something to print whose lines end with their last character, not with blanks."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._inner, options, pad=False):
            while line and not line[-1].text.rstrip(" "):
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(" "), line[-1].style)
            yield from line
            yield Segment.line()
