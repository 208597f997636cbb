"""Spending across runs: as a table, and as one JSON object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.table import Trimmed, spending_lines
from assay.results.costs import CostReport, known_cost
from assay.text import clean, counted, shortened
from assay.types import Spending


def costs_document(report: CostReport) -> dict[str, Any]:
    """The object that `assay runs --costs --json` prints; `n_unpriced` calls are not part of a cost."""
    return {
        "since": report.since,
        **_total(spent for run in report.runs for spent in run.spending),
        "models": [
            {
                "model": spent.model,
                "purpose": spent.purpose,
                **_total(
                    entry
                    for run in report.runs
                    for entry in run.spending
                    if (entry.model, entry.purpose) == (spent.model, spent.purpose)
                ),
            }
            for spent in report.spending
        ],
        "runs": [
            {
                "run": run.run,
                "name": run.name,
                "kind": run.kind,
                "task": run.task,
                "started_at": run.started_at,
                **_total(run.spending),
            }
            for run in report.runs
        ],
    }


def _total(spending: Iterable[Spending]) -> dict[str, Any]:
    spent = list(spending)
    cost, unpriced = known_cost(spent)
    return {
        "n_calls": sum(spending_entry.n_calls for spending_entry in spent),
        "prompt_tokens": sum(spending_entry.usage.prompt_tokens for spending_entry in spent),
        "completion_tokens": sum(spending_entry.usage.completion_tokens for spending_entry in spent),
        "cost_usd": float(cost),
        "n_unpriced": unpriced,
    }


def costs_table(report: CostReport, limit: int) -> RenderableType:
    """The runs that cost most recently, then what all runs cost by model, then the sum."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("run", "name or task", "started (UTC)", "calls", "cost"):
        table.add_column(title, no_wrap=True, justify="right" if title in ("calls", "cost") else "left")
    for run in report.runs[:limit]:
        table.add_row(
            run.run,
            Text(shortened(run.name or run.task, 26)),
            run.started_at[:16].replace("T", " "),
            f"{run.n_calls:,}",
            _money(run.spending),
        )
    hidden = len(report.runs) - limit
    more = [Text(f"({counted(hidden, 'more run')}: --limit, --json)", style="dim")] if hidden > 0 else []
    since = f" since {clean(report.since)}" if report.since else ""
    everything = [spent for run in report.runs for spent in run.spending]
    calls = sum(spent.n_calls for spent in everything)
    total = f"{_money(everything)} for {counted(calls, 'call')} of {counted(len(report.runs), 'run')}{since}"
    models = (Text(line, style="dim") for line in spending_lines(report.spending))
    return Group(Trimmed(table), *more, *models, Text(f"\nTotal: {total}", style="bold"))


def _money(spending: Iterable[Spending]) -> str:
    spent = list(spending)
    cost, unpriced = known_cost(spent)
    if unpriced and unpriced == sum(spending_entry.n_calls for spending_entry in spent):
        return "unknown"
    return f"${cost:,.4f}" + (f" + {counted(unpriced, 'call')} without a price" if unpriced else "")
