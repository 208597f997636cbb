"""`assay plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    config_option,
    console,
    json_option,
    named_file,
    plugin_option,
    set_by_hand,
    store_option,
)

if TYPE_CHECKING:
    from assay.engine.planning import Precision, RunPlan


@click.command("plan")
@click.argument("file", type=FILE)
@click.option("--model", metavar="MODEL", help="The model that answers.")
@click.option("--dataset", type=FILE, help="A data file or dataset YAML to use instead of the task's own.")
@config_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@click.option("--allow-outside", is_flag=True, help="Let files lie outside the project folder.")
@store_option
@plugin_option
@json_option
def command(file: Path, *, as_json: bool, store: str | None, **given: Any) -> None:
    """Say what `assay run FILE` would do and cost, before anything is spent. No key is needed.

    Prints the calls that are left, those already paid for, tokens and money (low, expected, high), the time at the
    model's limits, and what has changed since the last run. Asks no model. Of a conversation only the first question
    can be counted; judges are counted with short answers until the answers are there.

    \b
    Examples:
      assay plan task.yaml --model openai/gpt-5-mini
      assay plan task.yaml --model openai/gpt-5-mini --limit 20 --json
      assay plan run.yaml
    """
    from assay.engine.api import is_evaluation, plan_evaluation, plan_file
    from assay.engine.prepare import Options

    options = Options(store=store, **given)
    file = named_file(file)
    if is_evaluation(file):
        plans = plan_evaluation(file, options, set_by_hand())
        _print_json({"specifications": [_document(key, plan) for key, plan in plans]}) if as_json else _show_all(plans)
        return
    plan = plan_file(file, options)
    if as_json:
        _print_json(_document(None, plan))
        return
    _show(plan)


def _document(key: str | None, plan: RunPlan | None) -> dict[str, Any]:
    named = {} if key is None else {"specification": key}
    if plan is None:
        return {**named, "waits": True}
    return {**named, **{name: getattr(plan, name) for name in plan.__slots__}, "cost_usd": plan.cost_usd}


def _print_json(document: Any) -> None:
    import orjson

    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2, default=float).decode())


def _show_all(plans: list[tuple[str, RunPlan | None]]) -> None:
    """Every specification with its models, and what all of them cost together."""
    from rich.table import Table
    from rich.text import Text

    from assay.report.table import Trimmed
    from assay.report.text import clean, duration

    terminal = console()
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
        terminal.print(Text("All together: unknown, for a model has no price", style="bold"))
        return
    low, expected, high = (sum(float(cost[i]) for cost in costs if cost is not None) for i in range(3))
    terminal.print(Text(f"All together: ${expected:.4f} (between ${low:.4f} and ${high:.4f})", style="bold"))


def _show(plan: RunPlan) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.report.text import clean, counted, duration

    terminal = console()
    left = plan.n_cells - plan.n_done
    terminal.print(Text(f"{clean(plan.task)}: {counted(plan.n_cells, 'sample')}, {plan.n_done:,} done, {left:,} left"))
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
    total = plan.cost_usd
    words = "unknown: a model has no price"
    if total is not None:
        words = f"${total[1]:.4f} (between ${total[0]:.4f} and ${total[2]:.4f})"
    terminal.print(Text(f"Expected cost: {words}", style="bold"))


def _precision(found: Precision) -> str:
    """What the numbers will be able to show, in words."""
    share = f"A share will be known to within {found.half_width * 100:.1f} points"
    if found.difference is None:
        return f"{share}; too few samples to tell two runs apart if {found.flips:.0%} of them change."
    return (
        f"{share}; between two such runs a difference of {found.difference * 100:.1f} points will be found "
        f"four times out of five, if {found.flips:.0%} of the samples change (assay power says more)."
    ).replace("%", " %")
