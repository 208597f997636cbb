"""`assay runs`."""

from __future__ import annotations

import os

import click

from assay.cli.options import console, find_store, json_option, store_option

PIPE_WIDTH = 400


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option("--all", "steps", is_flag=True, help="Also the probes of audits, and datasets that models generated.")
@store_option
@json_option
def command(*, limit: int, steps: bool, store: str | None, as_json: bool) -> None:
    """List the runs in the store, newest first: what was run, with which model, and how it ended.

    The probes of `assay audit` and the runs of `assay generate` are steps of something else: `latest` never means
    them, and they are listed with --all only. Their ids work as any other's.

    \b
    Examples:
      assay runs
      assay runs --json --limit 100     one object a line
    """
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
