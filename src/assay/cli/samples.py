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
@click.option(
    "--wrong",
    is_flag=True,
    help="Only samples that a scorer found incorrect or graded below the middle of its range; with --failed: either.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help='Only samples of which this holds, such as "score < 0.5" or "label = good"; may be repeated.',
)
@click.option("--sort", metavar="FIELD", help="Least value of FIELD first; -FIELD: greatest first.")
@click.option(
    "--worst",
    type=click.IntRange(min=1),
    metavar="N",
    help="The N samples with the least value of the --sort field, else of the first scorer.",
)
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
    conditions: tuple[str, ...],
    sort: str | None,
    worst: int | None,
    limit: int | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Look at the samples behind the numbers of RUN (default: latest).

    A FIELD is a value or detail of a score, or a column of the dataset: its name, scorer/NAME or sample/NAME. With
    --json one object per line: sample_id, trial, sample, output, scores, failures.

    \b
    Examples:
      assay samples --wrong             what was answered wrong
      assay samples 3f2a --failed       what could not be answered or scored, and why
      assay samples --worst 5           the five lowest scores
      assay samples --where "score < 0.5" --where "language = de"
      assay samples --id q7             one sample in full
      assay samples --json > all.jsonl
    """
    from assay.analysis.sample_query import SampleQuery, parse_condition, query_samples
    from assay.api.stored import expect_sample, find
    from assay.report.samples import print_sample

    opened = find_store(store, run)
    record = find(opened, run)
    if sample_id is not None:
        expect_sample(opened, record, sample_id)
    most = limit or (TERMINAL_LIMIT if sys.stdout.isatty() and not as_json else None)
    query = SampleQuery(
        sample_id=sample_id,
        failed=failed,
        wrong=wrong,
        where=tuple(parse_condition(text) for text in conditions),
        sort=sort,
        worst=worst,
        # one more than is shown says whether more follow
        limit=limit if as_json or most is None else most + 1,
    )
    samples = query_samples(opened, record, query)
    if as_json:
        _print_json(samples)
        return
    n = 0
    for sample in samples:
        if n == most:
            click.echo("... more follow: --limit N shows N of them, --json prints them all")
            break
        print_sample(console(), sample, record.spec, full=sample_id is not None)
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
