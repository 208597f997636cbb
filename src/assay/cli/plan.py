"""`assay plan`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    config_option,
    executor_options,
    json_option,
    named_file,
    plugin_option,
    set_by_hand,
    store_option,
)
from assay.cli.output import console, print_json

if TYPE_CHECKING:
    from assay.api.run import Options


def work_split(options: Options) -> list[str]:
    """Say how the work of a run is split on a Ray cluster; nothing for a local run."""
    if options.executor == "local":
        return []
    address = os.environ.get("RAY_ADDRESS")
    place = f"the Ray cluster at {address}" if address else "a Ray cluster that is started on this machine"
    return [
        f"{options.actors} Ray actors on {place} ask the models and score; this process plans, reserves and stores.",
        "Limits on concurrency, rates and cost hold for all actors together.",
        "",
    ]


@click.command("plan")
@click.argument("file", type=FILE)
@click.option("--model", metavar="MODEL", help="The model that answers, as for `assay run`.")
@click.option("--dataset", type=FILE, help="A data file or dataset YAML that replaces the task's own dataset.")
@config_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use only the first N samples.")
@click.option("--allow-outside", is_flag=True, help="Accept files outside the project folder.")
@executor_options
@store_option
@plugin_option
@json_option
def command(file: Path, *, as_json: bool, store: str | None, **given: Any) -> None:
    """Estimate what `assay run FILE` would do and cost. Sends nothing and needs no API key.

    Prints the calls to make, the calls already paid for, tokens and cost (low, expected, high), the time at the model's
    rate limits, and what has changed since the last run. Only the first turn of a conversation can be counted. Until
    the answers exist, prompts of judges are estimated with short answers.

    \b
    Examples:
      assay plan task.yaml --model openai/gpt-5-mini
      assay plan task.yaml --model openai/gpt-5-mini --limit 20 --json
      assay plan run.yaml
    """
    from assay.api.run import Options, is_evaluation, plan_evaluation, plan_file
    from assay.report.estimate import estimate_document, print_estimate, print_estimates

    options = Options(store=store, **given)
    file = named_file(file)
    if not as_json:
        for line in work_split(options):
            click.echo(line)
    if is_evaluation(file):
        plans = plan_evaluation(file, options, set_by_hand())
        if as_json:
            print_json({"specifications": [estimate_document(key, plan) for key, plan in plans]})
        else:
            print_estimates(console(), plans)
        return
    plan = plan_file(file, options)
    if as_json:
        print_json(estimate_document(None, plan))
        return
    print_estimate(console(), plan)
