"""`assay compare`."""

from __future__ import annotations

import click

from assay.cli.options import json_option, open_runs, plugin_option, store_option, tell_reading
from assay.cli.output import console, print_json


@click.command("compare")
@click.argument("baseline")
@click.argument("others", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="ADDRESS",
    help="Compare only this metric (its address or any unique ending of it); repeatable.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="The largest difference that does not matter. The verdict is then better, worse, equivalent or undecided.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals and the verdict.",
)
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="List the ids of up to N changed samples in each direction; --json lists all.",
)
@click.option(
    "--show-flips",
    type=click.IntRange(min=1),
    metavar="N",
    help="Print up to N changed samples per metric with the answers of both runs, losses first; also with --json.",
)
@click.option("--all-pairs", is_flag=True, help="Compare every run with every other run, not only with the first.")
@click.option(
    "--lower-is-better",
    multiple=True,
    metavar="ADDRESS",
    help="A metric for which lower is better, such as a latency; repeatable.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="COLUMN",
    help="A dataset column that may differ between the runs; repeatable.",
)
@plugin_option
@store_option
@json_option
def command(
    baseline: str,
    others: tuple[str, ...],
    *,
    flips: int,
    show_flips: int | None,
    store: str | None,
    as_json: bool,
    metrics: tuple[str, ...],
    lower_is_better: tuple[str, ...],
    ignored: tuple[str, ...],
    margin: float | None,
    level: float,
    all_pairs: bool,
) -> int:
    """Compare runs with a BASELINE, sample by sample.

    Samples are matched by id and content; samples without a match are counted and left out. Prints whether a run is
    better or worse, by how much, and which samples changed. Several metrics or runs form one family, whose verdicts are
    adjusted for multiple comparisons (Holm). Exit code 1 if a run is worse than the baseline; with --all-pairs there is
    no baseline.

    \b
    Examples:
      assay compare 3f2a latest
      assay compare v1 v2 --metric accuracy --margin 0.01
      assay compare v1 v2 --show-flips 10
      assay compare v1 v2 --metric f1_score
      assay compare small medium large --all-pairs
      assay compare 3f2a 91bc 77d0 --json > comparison.json
    """
    from assay.analysis.compare import CompareOptions, compare_runs
    from assay.analysis.sample_query import worst_flips

    opened, records = open_runs(store, baseline, *others)
    tell_reading(records)
    options = CompareOptions(
        metrics=metrics,
        lower_is_better=lower_is_better,
        ignored=ignored,
        margin=margin,
        level=level,
        all_pairs=all_pairs,
    )
    comparison = compare_runs(opened, records, options)
    flipped = [] if show_flips is None else worst_flips(opened, records, comparison, show_flips)
    if as_json:
        from assay.report.compare import comparison_document
        from assay.report.flips import flips_document

        shown = {} if show_flips is None else {"flipped_samples": flips_document(flipped)}
        print_json({**comparison_document(comparison, plain=False), **shown})
    else:
        from assay.report.compare_table import comparison_table
        from assay.report.flips import flips_text

        console().print(comparison_table(comparison, flips=flips))
        if show_flips is not None:
            console().print(flips_text(flipped))
    return 1 if comparison.is_worse else 0
