"""`assay power`."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.options import json_option, open_runs, plugin_option, store_option
from assay.cli.output import console, print_json

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("power")
@click.argument("pilots", nargs=-1, metavar="[PILOT] [OTHER]")
@click.option(
    "--effect", type=click.FloatRange(min=0, min_open=True), metavar="D", help="The difference to detect, such as 0.02."
)
@click.option("--n", type=click.IntRange(min=2), metavar="N", help="The number of samples.")
@click.option(
    "--power", type=_SHARE, metavar="P", help="The probability of detecting it.  [default: 0.8, unless it is computed]"
)
@click.option(
    "--flips",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="F",
    help="The share of samples whose score changes between the runs.",
)
@click.option(
    "--share", type=_SHARE, metavar="S", help="The share of correct answers, for runs over different samples."
)
@click.option("--metric", metavar="ADDRESS", help="The metric of the pilot runs to plan for.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the comparison.",
)
@plugin_option
@store_option
@json_option
def command(pilots: tuple[str, ...], *, metric: str | None, store: str | None, as_json: bool, **given: Any) -> None:
    """Compute how many samples a comparison of two runs needs, or what difference it can detect.

    Give two of --n, --effect and --power; the third is computed. How much scores vary is measured on a PILOT run (two
    pilots also show how many samples flip), or assumed: --flips for runs over the same samples, --share for runs over
    different ones.

    \b
    Examples:
      assay power --flips 0.1 --effect 0.02             how many samples?
      assay power --flips 0.1 --share 0.8 --n 500       what difference can 500 detect?
      assay power --flips 0.1 --n 500 --effect 0.02     how likely is it detected?
      assay power 3f2a latest --effect 0.02             from two pilot runs
    """
    from assay.analysis.power import PowerOptions, plan_power

    if len(pilots) > 2:
        raise click.UsageError("give at most two pilot runs")
    if metric is not None and not pilots:
        raise click.UsageError("--metric needs a pilot run")
    opened, records = open_runs(store, *pilots) if pilots else (None, [])
    plan = plan_power(PowerOptions(**given), opened, records, metric=metric)
    if as_json:
        print_json(plan.to_dict())
        return
    from assay.report.power import power_table

    console().print(power_table(plan))
