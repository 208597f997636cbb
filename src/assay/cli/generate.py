"""`assay generate`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from assay.cli.options import FILE, code_options, json_option, log_options, money, plugin_option, store_option
from assay.cli.output import console, print_json, shown


@click.command("generate")
@click.argument("file", type=FILE)
@click.option(
    "--dataset", "key", metavar="KEY", help="The dataset to generate, if FILE is a run file that defines several."
)
@click.option("--out", type=FILE, metavar="FILE", help="Also write the rows to this JSONL file.")
@click.option("--fresh", is_flag=True, help="Generate the rows again, asking models again, even if they exist.")
@click.option("--max-cost", callback=money, metavar="USD", help="A hard ceiling on the cost of generating.")
@click.option(
    "--max-concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum concurrent requests per model.  [default: 100]",
)
@code_options
@click.option("--quiet", "-q", is_flag=True, help="Print no progress and no notes.")
@log_options
@plugin_option
@store_option
@json_option
def command(file: Path, *, key: str | None, out: Path | None, quiet: bool, as_json: bool, **given: Any) -> None:
    """Generate the rows of the dataset in FILE.

    The rows are stored in the project. `assay run` uses them until the generator, its source or its models change, and
    generates missing rows by itself; with this command you can look at them first.

    \b
    Examples:
      assay generate questions.yaml
      assay generate run.yaml --dataset questions --max-cost 0.50
      assay generate questions.yaml --out questions.jsonl
    """
    from assay.api.run import Options, generate_file, notes_on
    from assay.cli.progress import watch
    from assay.report.generated import generated_document, print_generated

    with watch(enabled=not quiet) as listener:
        recipe, rows = generate_file(file, Options(**given), key=key, listener=listener)
    for note in () if quiet else notes_on(recipe):
        click.echo(f"note: {shown(str(note))}", err=True)
    if out is not None:
        shutil.copyfile(recipe.file, out)
    if as_json:
        print_json(generated_document(recipe, rows))
    else:
        print_generated(console(), recipe, rows, out or recipe.file)
