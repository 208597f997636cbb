"""`assay runs`."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import click

from assay.cli.options import console, find_store, json_option, store_option

PIPE_WIDTH = 400


def moment(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> datetime | None:
    """A date or time; UTC where it names no zone."""
    if text is None:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f'"{text}" is not a date such as 2026-01-31', ctx, parameter) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option("--costs", is_flag=True, help="What the runs cost: each, by model, and all together.")
@click.option(
    "--since",
    metavar="DATE",
    callback=moment,
    help="With --costs: only runs since 2026-01-31, or 2026-01-31T08:00 (UTC).",
)
@click.option("--all", "steps", is_flag=True, help="Also the probes of audits, and datasets that models generated.")
@store_option
@json_option
def command(*, limit: int, costs: bool, since: datetime | None, steps: bool, store: str | None, as_json: bool) -> None:
    """List the runs in the store, newest first: what was run, with which model, and how it ended.

    The probes of `assay audit` and the runs of `assay generate` are steps of something else: `latest` never means
    them, and they are listed with --all only. Their ids work as any other's, and --costs counts them.

    \b
    Examples:
      assay runs
      assay runs --json --limit 100     one object per line
      assay runs --costs --since 2026-01-31
    """
    if costs:
        if steps:
            raise click.UsageError("--costs counts all runs: --all has nothing to add")
        _show_costs(store, since, limit, as_json=as_json)
        return
    if since is not None:
        raise click.UsageError("--since is for --costs")
    from assay.api.stored import all_runs
    from assay.report.runs import run_row, runs_table

    records = all_runs(find_store(store), limit, steps=steps)
    if as_json:
        import orjson

        for record in records:
            click.echo(orjson.dumps(run_row(record)).decode())
        return
    if not records:
        click.echo("no runs yet: `assay run TASK.yaml` makes one")
        return
    terminal = console()
    if not terminal.is_terminal and not os.environ.get("COLUMNS"):
        # a pipe has no width: `assay runs | grep model` finds names that a terminal would shorten
        terminal.width = PIPE_WIDTH
    terminal.print(runs_table(records, terminal.width))


def _show_costs(store: str | None, since: datetime | None, limit: int, *, as_json: bool) -> None:
    from assay.api.stored import run_costs
    from assay.cli.run import print_json
    from assay.report.costs import costs_document, costs_table

    report = run_costs(find_store(store), since)
    if as_json:
        print_json(costs_document(report))
    elif not report.runs:
        click.echo("no run has paid for a call" + ("" if since is None else f" since {report.since}"))
    else:
        console().print(costs_table(report, limit))
