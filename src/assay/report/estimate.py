"""The expected calls and cost of a run, as JSON and on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.report.table import Trimmed, reused_from
from assay.results.estimate import Estimate, ExpectedPrecision
from assay.text import clean, counted, duration


def estimate_document(key: str | None, plan: Estimate | None) -> dict[str, Any]:
    """The object that `assay plan --json` prints for a task or for one specification."""
    named = {} if key is None else {"specification": key}
    if plan is None:
        return {**named, "waits": True}
    return {**named, **{name: getattr(plan, name) for name in plan.__slots__}, "cost_usd": plan.cost_usd}


def print_estimates(terminal: Console, plans: list[tuple[str, Estimate | None]]) -> None:
    """Every specification with its models, and what all of them cost together."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("specification", "left", "model", "for", "calls", "paid", "cost", "time"):
        right = title in ("left", "calls", "paid", "cost")
        table.add_column(title, overflow="fold", justify="right" if right else "left", no_wrap=right)
    for key, plan in plans:
        name = Text(clean(key, width=26))
        if plan is None:
            table.add_row(name, "?", Text("waits for a result or for rows to be generated", style="yellow"))
            continue
        left = f"{plan.n_cells - plan.n_done:,}"
        if not plan.models:
            table.add_row(name, left, Text("asks no model", style="dim"))
        for place, model in enumerate(plan.models):
            cost = "unknown" if model.cost_usd is None else f"${model.cost_usd[1]:.4f}"
            row = (model.purpose, f"{model.calls:,}", f"{model.cached:,}", cost, duration(model.seconds))
            table.add_row(*((name, left) if place == 0 else ("", "")), Text(clean(model.model, width=20)), *row)
    terminal.print(Trimmed(table))
    costs = [plan.cost_usd for _, plan in plans if plan is not None]
    if any(cost is None for cost in costs):
        terminal.print(Text("Total: unknown, for a model has no price", style="bold"))
        return
    low, expected, high = (sum(float(cost[i]) for cost in costs if cost is not None) for i in range(3))
    terminal.print(Text(f"Total: ${expected:.4f} (between ${low:.4f} and ${high:.4f})", style="bold"))


def print_estimate(terminal: Console, plan: Estimate) -> None:
    """Print the calls, tokens, money and time that one task would take."""
    left = plan.n_cells - plan.n_done
    terminal.print(Text(f"{clean(plan.task)}: {counted(plan.n_cells, 'sample')}, {plan.n_done:,} done, {left:,} left"))
    if plan.reused_from:
        terminal.print(Text(f"Answers and replies are reused{reused_from(plan.reused_from)}."))
    for reason in plan.stale:
        terminal.print(Text(f"  {reason}", style="yellow"))
    if plan.precision is not None:
        terminal.print(Text(_precision(plan.precision), style="dim"))
    if not plan.models:
        terminal.print("No model is asked: this run costs nothing.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("model", "for", "calls", "paid", "tokens in + out", "cost", "time"):
        table.add_column(title, overflow="fold", justify="right" if title in ("calls", "paid") else "left")
    for model in plan.models:
        table.add_row(
            Text(clean(model.model, width=24)),
            model.purpose,
            f"{model.calls:,}",
            f"{model.cached:,}",
            f"{model.tokens_in.expected:,.0f} + {model.tokens_out.expected:,.0f}",
            "unknown" if model.cost_usd is None else f"${model.cost_usd[1]:.4f}",
            duration(model.seconds),
        )
    terminal.print(table)
    for note in plan.notes:
        terminal.print(Text(f"note: {clean(note)}", style="yellow"))
    total = plan.cost_usd
    words = "unknown: a model has no price"
    if total is not None:
        words = f"${total[1]:.4f} (between ${total[0]:.4f} and ${total[2]:.4f})"
    terminal.print(Text(f"Expected cost: {words}", style="bold"))


def _precision(precision: ExpectedPrecision) -> str:
    """Describe the expected precision of the metrics."""
    share = f"A share will be known to within {precision.half_width * 100:.1f} points"
    if precision.difference is None:
        return f"{share}; too few samples to tell two runs apart if {precision.flips:.0%} of them change."
    return (
        f"{share}; between two such runs a difference of {precision.difference * 100:.1f} points will be found "
        f"four times out of five, if {precision.flips:.0%} of the samples change (assay power says more)."
    ).replace("%", " %")
