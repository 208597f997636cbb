"""`assay calibrate`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE, json_option, open_runs, plugin_option, store_option, tell_reading
from assay.cli.output import console, print_json


@click.command("calibrate")
@click.argument("run", default="latest")
@click.option(
    "--labels",
    type=FILE,
    metavar="FILE",
    help="Human labels: a CSV or JSONL file with sample_id, label[, annotator, criterion].  [default: the labels that "
    "`assay view --label` and `assay import` have put into the store]",
)
@click.option(
    "--suggest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw N random samples for people to label and write them to --labels FILE as CSV.",
)
@click.option("--metric", metavar="ADDRESS", help="The metric to correct: its address or any unique ending of it.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Random seed for --suggest.")
@click.option("--force", is_flag=True, help="Let --suggest overwrite FILE.")
@plugin_option
@store_option
@json_option
def command(
    run: str,
    *,
    labels: Path | None,
    suggest: int | None,
    metric: str | None,
    level: float,
    seed: int,
    force: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Correct the scores of the judge in RUN (default: latest) with human labels on some of its samples.

    Prints the judge's own mean, the mean of the labels alone, and an estimate that combines both. The labelled samples
    must be drawn at random: `assay view --label NAME` and --suggest N draw them. Without --labels, every metric that
    has such labels in the store is corrected.

    \b
    Examples:
      assay calibrate v2                                   with labels from `assay view --label`
      assay calibrate --labels people.csv --suggest 100    write samples to label
      assay calibrate --labels people.csv                  correct the judge with the labels
      assay calibrate 3f2a --labels people.csv --metric score_mean --json
    """
    from assay.analysis.calibrate import calibrate_run, calibrate_stored, suggest_labels, write_suggestions
    from assay.text import counted

    opened, [record] = open_runs(store, run)
    tell_reading([record])
    if suggest is not None:
        if labels is None:
            raise click.UsageError("--suggest needs --labels FILE, the file to write")
        chosen = suggest_labels(opened, record, suggest, metric=metric, seed=seed)
        write_suggestions(labels, chosen, force=force)
        click.echo(
            f"wrote {counted(len(chosen), 'sample')} to {labels}: "
            "fill in the column `label`, then run this command without --suggest"
        )
        return
    if labels is None:
        calibrations = calibrate_stored(opened, record, metric=metric, level=level)
    else:
        calibrations = calibrate_run(opened, record, labels, metric=metric, level=level)
    if as_json:
        print_json({"run": record.id, "calibrations": [calibration.to_dict() for calibration in calibrations]})
        return
    from assay.report.calibrate import calibration_table

    console().print(calibration_table(calibrations))
