"""`assay run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, config_values, console, json_option, max_failures_option, money, shown, store_option

if TYPE_CHECKING:
    from assay.types import RunReport


@click.command("run")
@click.argument("file", type=FILE)
@click.option(
    "--model",
    metavar="MODEL",
    help="The model that answers: provider/name (openai/gpt-5-mini), a model file or its key, scripted/FILE.",
)
@click.option(
    "--dataset",
    type=FILE,
    help="A data file (CSV, JSONL, ...) or dataset YAML to use instead of the task's own.",
)
@click.option(
    "--config",
    multiple=True,
    callback=config_values,
    metavar="KEY=VALUE",
    help="Set a parameter of the task's config_spec.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything drawn at random.")
@click.option(
    "--max-cost",
    callback=money,
    metavar="USD",
    help="Stop starting calls before the run could cost more than this; it ends partial, with valid numbers.",
)
@click.option(
    "--max-concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N calls in flight a model (default 100).",
)
@click.option(
    "--cache-policy",
    type=click.Choice(["reuse", "update", "no-cache"]),
    default="reuse",
    show_default=True,
    help="Use replies paid for earlier; ask anew and replace them; or neither use nor share them.",
)
@max_failures_option
@click.option(
    "--fresh",
    is_flag=True,
    help="Start anew, asking models again, instead of reusing or resuming an earlier run of the same content.",
)
@click.option("--allow-outside", is_flag=True, help="Let files lie outside the project folder.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@store_option
@json_option
def command(file: Path, *, as_json: bool, quiet: bool, max_failures: float, store: str | None, **given: Any) -> int:
    """Run the task in FILE and print its numbers with their intervals.

    Results are kept in the project's store as they are made. Stopping (Ctrl-C, a crash, a power cut) loses nothing:
    the same command goes on where it stopped, and once finished reuses what it has.

    \b
    Examples:
      assay run task.yaml
      assay run task.yaml --model openai/gpt-5-mini --limit 20 --max-cost 0.50
      assay run task.yaml --dataset answers.jsonl
      assay run task.yaml --config answer_column=label --json
    """
    from assay.cli.progress import watch
    from assay.engine.api import run_file
    from assay.engine.prepare import Options

    options = Options(store=store, **given)
    with watch(enabled=not quiet) as listener:
        report, notes = run_file(file, options, listener=listener)
    if not quiet:
        for note in notes:
            click.echo(f"note: {shown(str(note))}", err=True)
    show(report, as_json=as_json)
    return verdict(report, max_failures)


def verdict(report: RunReport, max_failures: float) -> int:
    """The exit code of a finished run, with a word about why it is not 0."""
    from assay.engine.api import failed_share

    if report.status == "partial":
        click.echo(
            f"partial: --max-cost was reached after {report.n_samples:,} samples; "
            "the same command with a higher limit goes on from there",
            err=True,
        )
        return 3
    share = failed_share(report)
    if share > max_failures:
        click.echo(
            f"{share:.1%} of the scores failed, more than --max-failures {max_failures:g}: "
            f"`assay samples {report.run} --failed` shows them",
            err=True,
        )
        return 3
    return 0


def show(report: RunReport, *, as_json: bool) -> None:
    """Print a run's numbers for a person or for a machine."""
    if as_json:
        import orjson

        from assay.report.document import run_document

        sys.stdout.buffer.write(orjson.dumps(run_document(report), option=orjson.OPT_INDENT_2) + b"\n")
        sys.stdout.buffer.flush()
        return
    from assay.report.table import run_table

    console().print(run_table(report))
