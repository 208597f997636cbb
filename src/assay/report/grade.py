"""Graded texts as JSON and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.grading.results import EvalResult
from assay.report.table import Trimmed, spending_lines
from assay.report.values import interval
from assay.text import clean, counted, number

ITEMS_SHOWN = 40


COLUMNS_WIDTH = 76


def grade_document(result: EvalResult) -> dict[str, Any]:
    """The result for machines."""
    mean = result.mean_score
    cost = result.cost_usd
    return {
        "run": result.run,
        "n_items": result.total_items,
        "n_failed": result.failed_items,
        "n_cached": result.n_cached,
        **({"reused_from": list(result.reused_from)} if result.reused_from else {}),
        "score": None
        if mean is None
        else {
            "value": mean.value,
            "low": mean.interval.low if mean.interval else None,
            "high": mean.interval.high if mean.interval else None,
            "method": mean.interval.method if mean.interval else None,
            "n": mean.n,
        },
        "continuous_score": result.mean_continuous,
        "tie_share": result.tie_share,
        "n_order_sensitive": result.n_order_sensitive,
        **({"n_escalated": result.n_escalated} if result.config.escalation is not None else {}),
        "judges": {
            judge: {"n_votes": asked, "n_missing": failed, "missing": dict(result.missing_votes.get(judge, {}))}
            for judge, (failed, asked) in result.judge_failures.items()
        },
        "items": [_item(item_result) for item_result in result.item_results],
        "usage": {
            "prompt_tokens": 0 if result.total_token_usage is None else result.total_token_usage.prompt_tokens,
            "completion_tokens": 0 if result.total_token_usage is None else result.total_token_usage.completion_tokens,
        },
        "cost_usd": None if cost is None else float(cost),
        "warnings": list(result.warnings),
    }


def _item(result: Any) -> dict[str, Any]:
    item: dict[str, Any] = {"item": result.item.description, "error": result.error, "score": None}
    report = result.graded
    if report is not None:
        item |= {
            "score": report.score,
            "raw_score": report.raw_score,
            "coverage": report.coverage,
            "judge_scores": dict(report.judge_scores),
            "criteria": {
                criterion_report.criterion.name or criterion_report.criterion.requirement: {
                    "label": criterion_report.label,
                    "pairwise_agreement": criterion_report.pairwise_agreement,
                    **({"escalated": True} if criterion_report.escalated else {}),
                }
                for criterion_report in report.criteria
            },
        }
    return item


def grade_table(result: EvalResult, names: Sequence[str]) -> RenderableType:
    """Build a table with items in rows and criteria in columns; long names become numbers."""
    room = max(4, (COLUMNS_WIDTH - 30) // max(len(names), 1) - 2)
    fits = all(len(name) <= room for name in names)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("item", max_width=22, no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    for place, name in enumerate(names, start=1):
        table.add_column(clean(name) if fits else str(place), no_wrap=True, max_width=room)
    for item_result in result.item_results[:ITEMS_SHOWN]:
        cells = ["—"] * len(names)
        if item_result.graded is not None and len(item_result.graded.criteria) == len(names):
            cells = [clean(criterion.label or "—", width=room) for criterion in item_result.graded.criteria]
        score = item_result.report.score
        nothing = "failed" if item_result.graded is None else "—"
        table.add_row(
            clean(item_result.item.description, width=22), nothing if score is None else number(score), *cells
        )
    lines = [f"run {result.run} · {counted(result.total_items, 'item')} · {result.failed_items:,} failed"]
    if not fits:
        lines += [f"  {place}  {clean(name, width=70)}" for place, name in enumerate(names, start=1)]
    after = []
    if result.total_items > ITEMS_SHOWN:
        after.append(f"... and {result.total_items - ITEMS_SHOWN:,} more: `assay samples {result.run}`")
    mean = result.mean_score
    if mean is not None:
        after.append(f"mean score {number(mean.value)}  ({interval(mean.interval)}, n {mean.n})")
    if result.n_ties:
        after.append(
            f"{result.tie_share or 0:.1%} of the verdicts were decided by a tie; "
            f"the mean without snapping to options is {number(result.mean_continuous)}"
        )
    if result.n_escalated:
        after.append(f"{result.n_escalated:,} of {result.n_verdicts:,} verdicts were escalated to the stronger judges")
    if result.n_order_sensitive:
        after.append(
            f"{result.n_order_sensitive:,} of {result.n_verdicts:,} verdicts depend on the order of the options"
        )
    notes = (Text(f"note: {clean(note)}", style="yellow") for note in result.warnings)
    spent = (Text(line, style="dim") for line in spending_lines(result.spending))
    return Group(*(Text(line) for line in lines), Trimmed(table), *(Text(line) for line in after), *notes, *spent)
