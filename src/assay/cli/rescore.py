"""`assay rescore`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    FILE,
    code_options,
    config_option,
    json_option,
    max_failures_option,
    name_options,
    plugin_option,
    store_option,
)


@click.command("rescore")
@click.argument("run")
@click.argument("task", type=FILE)
@config_option
@max_failures_option
@name_options
@code_options
@store_option
@plugin_option
@json_option
def command(run: str, task: Path, *, max_failures: float, store: str | None, as_json: bool, **given: Any) -> int:
    """Score the stored answers of RUN with the scorers of TASK, without asking a model.

    Prints which scorers are new, changed or removed. Unchanged judges keep their scores. A changed judge needs
    `assay run`, which pays for the judge but not for the answers.

    \b
    Example:
      assay rescore latest stricter.yaml
    """
    from assay.api.run import rescore_run
    from assay.api.stored import open_project_store
    from assay.cli.run import show, verdict

    done = rescore_run(open_project_store(store, create=False), run, task, **given)
    for reason in done.stale:
        click.echo(reason, err=True)
    if not done.stale:
        click.echo("the scorers have not changed", err=True)
    show(done.report, as_json=as_json)
    return verdict(done.report, max_failures)
