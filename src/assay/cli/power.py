"""`assay power`."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.options import console, find_store, json_option, plugin_option, store_option

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("power")
@click.argument("pilots", nargs=-1, metavar="[PILOT] [OTHER]")
@click.option(
    "--effect", type=click.FloatRange(min=0, min_open=True), metavar="D", help="The difference to find, such as 0.02."
)
@click.option("--n", type=click.IntRange(min=2), metavar="N", help="The number of samples.")
@click.option("--power", type=_SHARE, metavar="P", help="The chance to find it (0.8 unless it is what is asked for).")
@click.option(
    "--flips",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="F",
    help="The share of samples that change between the runs.",
)
@click.option("--share", type=_SHARE, metavar="S", help="The share that is right, for runs over different samples.")
@click.option("--metric", metavar="ADDRESS", help="The number of the pilot runs to plan for.")
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the comparison.",
)
@plugin_option
@store_option
@json_option
def command(pilots: tuple[str, ...], *, metric: str | None, store: str | None, as_json: bool, **given: Any) -> None:
    """Say how many samples a comparison of two runs needs, or how large a difference must be to be found.

    Of --n, --effect and --power two give the third. How much the data vary comes from a PILOT run (two of them say
    how many samples flip), or from what you assume: --flips for runs over the same samples, --share for others.

    \b
    Examples:
      assay power --flips 0.1 --effect 0.02             how many samples?
      assay power --flips 0.1 --share 0.8 --n 500       which difference can 500 find?
      assay power --flips 0.1 --n 500 --effect 0.02     how likely is it found?
      assay power 3f2a latest --effect 0.02             from two pilot runs
    """
    from assay.analysis.power import PowerOptions, plan_power
    from assay.api.stored import find

    if len(pilots) > 2:
        raise click.UsageError("give one pilot run or two")
    if metric is not None and not pilots:
        raise click.UsageError("--metric is for pilot runs")
    opened = find_store(store) if pilots else None
    records = [find(opened, name) for name in pilots] if opened is not None else []
    plan = plan_power(PowerOptions(**given), opened, records, metric=metric)
    if as_json:
        import orjson

        click.echo(orjson.dumps(plan.to_dict(), option=orjson.OPT_INDENT_2).decode())
        return
    from assay.report.power import power_table

    console().print(power_table(plan))
