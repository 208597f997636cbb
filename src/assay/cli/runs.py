"""`assay runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from assay.store.runs import RunRecord


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@store_option
@json_option
def command(*, limit: int, store: str | None, as_json: bool) -> None:
    """List the runs in the store, newest first: what was run, with which model, and how it ended.

    \b
    Examples:
      assay runs
      assay runs --json --limit 100     one object a line
    """
    from assay.store.runs import all_runs

    records = all_runs(find_store(store), limit)
    if as_json:
        import orjson

        for record in records:
            click.echo(orjson.dumps(_row(record)).decode())
        return
    if not records:
        click.echo("no runs yet: `assay run TASK.yaml` makes one")
        return
    _print(records)


def _row(record: RunRecord) -> dict[str, Any]:
    from assay.store.runs import state

    return {
        "run": record.id,
        "status": state(record),
        "task": record.task,
        "model": record.model,
        "started_at": record.started_at,
        "finished_at": record.finished_at,
        "file": record.file,
        "n_samples": _samples(record),
    }


def _samples(record: RunRecord) -> int | None:
    import orjson

    return None if record.summary is None else int(orjson.loads(record.summary)["n_samples"])


def _print(records: list[RunRecord]) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.report.text import clean
    from assay.store.runs import state

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("run", "task", "model", "status", "samples", "started (UTC)"):
        table.add_column(title, overflow="fold", justify="right" if title == "samples" else "left")
    for record in records:
        n = _samples(record)
        table.add_row(
            record.id,
            Text(clean(record.task, width=24)),
            Text(clean(record.model or "", width=20)),
            state(record),
            "" if n is None else f"{n:,}",
            record.started_at[:16].replace("T", " "),
        )
    console().print(table)
