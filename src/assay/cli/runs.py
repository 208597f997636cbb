"""`assay runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from assay.store.runs import RunRecord

RUN_AND_DATE = 12 + 16 + 5 * 2
"""The columns that are never shortened, and the blanks between all six."""


@click.command("runs")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many, newest first.")
@click.option("--all", "aside", is_flag=True, help="Also the probes of audits, and datasets that models generated.")
@store_option
@json_option
def command(*, limit: int, aside: bool, store: str | None, as_json: bool) -> None:
    """List the runs in the store, newest first: what was run, with which model, and how it ended.

    The probes of `assay audit` and the runs of `assay generate` are steps of something else: `latest` never means
    them, and they are listed with --all only. Their ids work as any other's.

    \b
    Examples:
      assay runs
      assay runs --json --limit 100     one object a line
    """
    from assay.store.runs import all_runs

    records = all_runs(find_store(store), limit, aside=aside)
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

    from assay.report.table import Trimmed
    from assay.report.text import shortened
    from assay.store.runs import state

    terminal = console()
    counts = [_samples(record) for record in records]
    ended = [(state(record), "" if n is None else f"{n:,}") for record, n in zip(records, counts, strict=True)]
    widest = max(len(status) for status, _ in ended) + max(len("samples"), *(len(size) for _, size in ended))
    room = terminal.width - widest - RUN_AND_DATE
    models = max(len("model"), *(len(record.model or "") for record in records))
    tasks = max(room - models, room * 3 // 5)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("run", "task", "model", "status", "samples", "started (UTC)"):
        table.add_column(title, no_wrap=True, justify="right" if title == "samples" else "left")
    for record, (status, size) in zip(records, ended, strict=True):
        table.add_row(
            record.id,
            Text(shortened(record.task, tasks)),
            Text(shortened(record.model or "", max(room - tasks, len("model")))),
            status,
            size,
            record.started_at[:16].replace("T", " "),
        )
    terminal.print(Trimmed(table))
