"""`assay plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    FILE,
    config_option,
    console,
    json_option,
    named_file,
    plugin_option,
    set_by_hand,
    store_option,
)


@click.command("plan")
@click.argument("file", type=FILE)
@click.option("--model", metavar="MODEL", help="The model that answers.")
@click.option("--dataset", type=FILE, help="A data file or dataset YAML to use instead of the task's own.")
@config_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@click.option("--allow-outside", is_flag=True, help="Let files lie outside the project folder.")
@store_option
@plugin_option
@json_option
def command(file: Path, *, as_json: bool, store: str | None, **given: Any) -> None:
    """Say what `assay run FILE` would do and cost, before anything is spent. No key is needed.

    Prints the calls that are left, those already paid for, tokens and money (low, expected, high), the time at the
    model's limits, and what has changed since the last run. Asks no model. Of a conversation only the first question
    can be counted; judges are counted with short answers until the answers are there.

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
    if is_evaluation(file):
        plans = plan_evaluation(file, options, set_by_hand())
        if as_json:
            _print_json({"specifications": [estimate_document(key, plan) for key, plan in plans]})
        else:
            print_estimates(console(), plans)
        return
    plan = plan_file(file, options)
    if as_json:
        _print_json(estimate_document(None, plan))
        return
    print_estimate(console(), plan)


def _print_json(document: Any) -> None:
    import orjson

    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2, default=float).decode())
