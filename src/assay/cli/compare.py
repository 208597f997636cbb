"""`assay compare`."""

from __future__ import annotations

import click

from assay.cli.options import console, find_store, json_option, plugin_option, store_option, tell_reading


@click.command("compare")
@click.argument("baseline")
@click.argument("others", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--metric", "metrics", multiple=True, metavar="ADDRESS", help="Only this number: its address or the end of it."
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="The largest difference that does not matter: says better, worse, equivalent or undecided.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the intervals and of the verdict.",
)
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Show N changed samples each way; --json has all.",
)
@click.option(
    "--show-flips",
    type=click.IntRange(min=1),
    metavar="N",
    help="Print N changed samples per metric with the answers of both runs, losses first; with --json too.",
)
@click.option("--all-pairs", is_flag=True, help="Compare every run with every other one, not only with the first.")
@click.option(
    "--lower-is-better", multiple=True, metavar="ADDRESS", help="A number of which less is better, such as a latency."
)
@click.option(
    "--ignore", "ignored", multiple=True, metavar="COLUMN", help="A column that may differ between the runs' samples."
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

    Samples are matched by id and content; what does not match is counted and left out. Says in words whether a run
    is better or worse, by how much, and which samples changed. Several numbers or runs make one family: the words
    hold for all of them together (Holm). Exit code 1 when a run is worse than the baseline; with --all-pairs no run is
    the baseline.

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
    from assay.api.stored import find

    opened = find_store(store, baseline, *others)
    records = [find(opened, name) for name in (baseline, *others)]
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
        from assay.cli.run import print_json
        from assay.report.flips import flips_document

        shown = {} if show_flips is None else {"flipped_samples": flips_document(flipped)}
        print_json({**comparison.to_dict(), **shown})
    else:
        from assay.report.compare_table import comparison_table
        from assay.report.flips import flips_text

        console().print(comparison_table(comparison, flips=flips))
        if show_flips is not None:
            console().print(flips_text(flipped))
    return 1 if comparison.is_worse else 0
