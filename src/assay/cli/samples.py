"""`assay samples`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engine.evidence import Evidence

TERMINAL_LIMIT = 20


@click.command("samples")
@click.argument("run", default="latest")
@click.option("--id", "sample_id", metavar="ID", help="Only the sample with this id, in full.")
@click.option("--failed", is_flag=True, help="Only samples with a failure.")
@click.option("--wrong", is_flag=True, help="Only samples that some scorer found incorrect.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N samples (on a terminal 20 unless given).",
)
@store_option
@json_option
def command(
    run: str,
    *,
    sample_id: str | None,
    failed: bool,
    wrong: bool,
    limit: int | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Look at the samples behind the numbers of RUN (default: latest).

    With --json one object a line: sample_id, trial, sample, output, scores, failures.
    """
    from itertools import islice

    from assay.engine.evidence import evidence_of
    from assay.store.runs import find

    opened = find_store(store)
    found = evidence_of(opened, find(opened, run), sample_id=sample_id, failed=failed)
    if wrong:
        found = (entry for entry in found if entry.is_wrong)
    if as_json:
        _print_json(islice(found, limit))
        return
    shown = limit or TERMINAL_LIMIT
    entries = list(islice(found, shown + 1))
    if not entries:
        click.echo("no such samples")
    for entry in entries[:shown]:
        _print_entry(entry, full=sample_id is not None)
    if len(entries) > shown:
        click.echo("... more follow: --limit N shows N of them, --json prints them all")


def _print_json(entries: Iterator[Evidence]) -> None:
    import orjson

    write = sys.stdout.buffer.write
    for entry in entries:
        write(orjson.dumps(entry.document()) + b"\n")
    sys.stdout.buffer.flush()


def _print_entry(entry: Evidence, *, full: bool) -> None:
    from rich.text import Text

    from assay.report.text import clean

    terminal = console()
    width = None if full else terminal.width - 12
    trial = f" (trial {entry.trial})" if entry.trial else ""
    terminal.print(Text(f"sample {clean(entry.sample_id)}{trial}", style="bold"))
    for name, value in entry.sample.items():
        terminal.print(Text(f"  {clean(name)}: {clean(str(value), width=width)}"), soft_wrap=True)
    if entry.output is not None:
        terminal.print(Text(f"  → {clean(entry.output, width=width)}", style="cyan"), soft_wrap=True)
    for key, score in entry.scores.items():
        said = ", ".join(f"{k} {v}" for k, v in {**score.values, **score.metadata}.items())
        terminal.print(Text(f"  {clean(key)}: {clean(said, width=width)}", style="green"), soft_wrap=True)
    for failure in entry.failures:
        where = f" in {clean(failure.scorer)}" if failure.scorer else ""
        said = f"  failed ({failure.failure.kind}){where}: {clean(failure.failure.detail, width=width)}"
        terminal.print(Text(said, style="yellow"), soft_wrap=True)
