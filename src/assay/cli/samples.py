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

    \b
    Examples:
      assay samples --wrong             what was answered wrong
      assay samples 3f2a --failed       what could not be answered or scored, and why
      assay samples --id q7             one sample in full
      assay samples --json > all.jsonl
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
    width = None if full else terminal.width
    for line, style in _lines(entry):
        terminal.print(Text(clean(line, width=width), style=style), soft_wrap=True)


def _lines(entry: Evidence) -> Iterator[tuple[str, str]]:
    """What there is to say about a sample, line by line, each with its style."""
    yield f"sample {entry.sample_id}" + (f" (trial {entry.trial})" if entry.trial else ""), "bold"
    for name, value in entry.sample.items():
        yield f"  {name}: {value}", ""
    if entry.output is not None:
        yield f"  → {entry.output}", "cyan"
    for key, score in entry.scores.items():
        said = ", ".join(f"{k} {v}" for k, v in {**score.values, **score.metadata}.items())
        yield f"  {key}: {said}", "green"
    for named in entry.failures:
        where = f" in {named.scorer}" if named.scorer else ""
        yield f"  failed ({named.failure.kind}){where}: {named.failure.detail}", "yellow"
