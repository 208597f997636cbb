"""`assay samples`."""

from __future__ import annotations

import sys

import click

from assay.cli.options import json_option_with, open_runs, store_option
from assay.cli.output import console, print_json_lines

TERMINAL_LIMIT = 20


@click.command("samples")
@click.argument("run", default="latest")
@click.option(
    "--id", "sample_id", metavar="ID", help="Show only the sample with this id, in full, with its conversation."
)
@click.option("--failed", is_flag=True, help="Show only samples that failed.")
@click.option(
    "--wrong",
    is_flag=True,
    help="Show only samples that a scorer marked incorrect or graded below the middle of its range; with --failed, "
    "samples that are either.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help='Show only samples that meet a condition such as "score < 0.5" or "label = good"; repeatable.',
)
@click.option("--sort", metavar="FIELD", help="Sort by FIELD, lowest first; -FIELD sorts highest first.")
@click.option(
    "--worst",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N samples with the lowest value of the --sort field, or else of the first scorer.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show at most N samples.  [default: 20 on a terminal, otherwise all]",
)
@store_option
@json_option_with("Print JSON Lines: one object per sample.")
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
    """Show the samples behind the metrics of RUN (default: latest).

    A FIELD is a value or detail of a score, or a column of the dataset, written as NAME, scorer/NAME or sample/NAME. An
    object of --json has sample_id, trial, sample, output, trace, calls, scores and failures.

    \b
    Examples:
      assay samples --wrong             wrong answers
      assay samples 3f2a --failed       samples that could not be answered or scored, and why
      assay samples --worst 5           the five lowest scores
      assay samples --where "score < 0.5" --where "language = de"
      assay samples --id q7             one sample in full
      assay samples --json > all.jsonl
    """
    from assay.analysis.sample_query import SampleQuery, parse_condition, query_samples
    from assay.api.stored import expect_sample
    from assay.report.samples import print_sample
    from assay.results.document import sample_document

    opened, [record] = open_runs(store, run)
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
        # one more than is shown, to know whether more follow
        limit=limit if as_json or most is None else most + 1,
    )
    samples = query_samples(opened, record, query)
    if as_json:
        print_json_lines(sample_document(sample) for sample in samples)
        return
    n = 0
    for sample in samples:
        if n == most:
            click.echo("... there are more samples: --limit N shows N of them, --json prints all")
            break
        print_sample(console(), sample, record.spec, full=sample_id is not None)
        n += 1
    if not n:
        click.echo("no samples match")
