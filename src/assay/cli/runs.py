"""`assay runs`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from assay.cli.options import find_store, json_option_with, store_option
from assay.cli.output import console, print_json, print_json_lines


def moment(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> datetime | None:
    """Parse a date or time; UTC unless it has a time zone."""
    if text is None:
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f'"{text}" is not a date such as 2026-01-31', ctx, parameter) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Number of runs to list.")
@click.option("--costs", is_flag=True, help="Print what the runs cost: per run, per model and in total.")
@click.option(
    "--since",
    metavar="DATE",
    callback=moment,
    help="With --costs: only runs since this date, such as 2026-01-31 or 2026-01-31T08:00 (UTC).",
)
@click.option(
    "--all", "steps", is_flag=True, help="Also list the probes of audits and the runs that generated datasets."
)
@store_option
@json_option_with("Print JSON Lines: one object per run. With --costs: one JSON document.")
def command(*, limit: int, costs: bool, since: datetime | None, steps: bool, store: str | None, as_json: bool) -> None:
    """List the runs in the store, newest first, with their task, model and status.

    The probes of `assay audit` and the runs of `assay generate` are listed only with --all, and `latest` never refers
    to them. Their ids work everywhere, and --costs counts them.

    \b
    Examples:
      assay runs
      assay runs --json --limit 100
      assay runs --costs --since 2026-01-31
    """
    if costs:
        if steps:
            raise click.UsageError("--costs already counts all runs; leave --all out")
        _show_costs(store, since, limit, as_json=as_json)
        return
    if since is not None:
        raise click.UsageError("--since needs --costs")
    from assay.api.stored import all_runs
    from assay.report.runs import run_row, runs_table

    records = all_runs(find_store(store), limit, steps=steps)
    if as_json:
        print_json_lines(run_row(record) for record in records)
        return
    if not records:
        click.echo("no runs yet; `assay run TASK.yaml` creates one")
        return
    terminal = console()
    terminal.print(runs_table(records, terminal.width))


def _show_costs(store: str | None, since: datetime | None, limit: int, *, as_json: bool) -> None:
    from assay.api.stored import run_costs
    from assay.report.costs import costs_document, costs_table

    report = run_costs(find_store(store), since)
    if as_json:
        print_json(costs_document(report))
    elif not report.runs:
        click.echo("no run has paid for a call" + ("" if since is None else f" since {report.since}"))
    else:
        console().print(costs_table(report, limit))
