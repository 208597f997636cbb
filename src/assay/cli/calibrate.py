"""`assay calibrate`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.options import FILE, console, find_store, json_option, plugin_option, store_option, tell_reading


@click.command("calibrate")
@click.argument("run", default="latest")
@click.option(
    "--labels",
    type=FILE,
    required=True,
    metavar="FILE",
    help="What people said: a CSV or JSONL with sample_id, label[, annotator, criterion].",
)
@click.option(
    "--suggest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw N samples for people to label and write them to --labels FILE, a CSV.",
)
@click.option("--metric", metavar="ADDRESS", help="The number to correct: its address or the end of it.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the intervals.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Seed of the draw of --suggest.")
@click.option("--force", is_flag=True, help="Let --suggest replace FILE if it is there already.")
@plugin_option
@store_option
@json_option
def command(
    run: str,
    *,
    labels: Path,
    suggest: int | None,
    metric: str | None,
    level: float,
    seed: int,
    force: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Correct the judge of RUN (default: latest) by labels that people gave to some of its samples.

    Prints the judge's own number, that of the labels alone, and the one that uses both: the judge reads everything,
    people say where it errs. Labels must be of samples drawn at random: --suggest N draws them.

    \b
    Examples:
      assay calibrate --labels people.csv --suggest 100    write samples to label
      assay calibrate --labels people.csv                  correct the judge by them
      assay calibrate 3f2a --labels people.csv --metric score_mean --json
    """
    from assay.analysis.calibrate import calibrate_run, suggest_labels, write_suggestions
    from assay.api.stored import find
    from assay.text import counted

    opened = find_store(store)
    record = find(opened, run)
    tell_reading([record])
    if suggest is not None:
        chosen = suggest_labels(opened, record, suggest, metric=metric, seed=seed)
        write_suggestions(labels, chosen, force=force)
        click.echo(
            f"wrote {counted(len(chosen), 'sample')} to {labels}: "
            "fill in the column label, then run this without --suggest"
        )
        return
    found = calibrate_run(opened, record, labels, metric=metric, level=level)
    if as_json:
        import orjson

        document = {"run": record.id, "calibrations": [each.to_dict() for each in found]}
        sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        return
    from assay.report.calibrate import calibration_table

    console().print(calibration_table(found))
