"""`assay samples`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from assay.cli.options import console, find_store, json_option, store_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.api.stored import Sample

TERMINAL_LIMIT = 20


@click.command("samples")
@click.argument("run", default="latest")
@click.option("--id", "sample_id", metavar="ID", help="Only the sample with this id, in full, with the conversation.")
@click.option("--failed", is_flag=True, help="Only samples with a failure.")
@click.option("--wrong", is_flag=True, help="Only samples that some scorer found incorrect; with --failed: either.")
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

    from assay.api.stored import expect_sample, find, read_samples
    from assay.report.samples import print_sample

    opened = find_store(store)
    record = find(opened, run)
    if sample_id is not None:
        expect_sample(opened, record, sample_id)
    found = read_samples(opened, record, sample_id=sample_id, failed=failed and not wrong)
    if wrong:
        found = (entry for entry in found if entry.is_wrong or (failed and entry.failures))
    if as_json:
        _print_json(islice(found, limit))
        return
    most = limit or (TERMINAL_LIMIT if sys.stdout.isatty() else None)
    hidden = record.spec.answer_column
    n = 0
    for entry in found:
        if n == most:
            click.echo("... more follow: --limit N shows N of them, --json prints them all")
            break
        print_sample(console(), entry, hidden, full=sample_id is not None)
        n += 1
    if not n:
        click.echo("no such samples")


def _print_json(entries: Iterator[Sample]) -> None:
    import orjson

    from assay.results.document import sample_document

    write = sys.stdout.buffer.write
    for entry in entries:
        write(orjson.dumps(sample_document(entry)) + b"\n")
    sys.stdout.buffer.flush()
