"""`assay generate`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from assay.cli.options import FILE, code_options, console, json_option, money, plugin_option, shown, store_option


@click.command("generate")
@click.argument("file", type=FILE)
@click.option("--dataset", "key", metavar="KEY", help="Which dataset, when FILE is a run file that defines several.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the rows to this JSONL file too.")
@click.option("--fresh", is_flag=True, help="Make the rows anew, asking models again, even when they are there.")
@click.option("--max-cost", callback=money, metavar="USD", help="Stop before generating could cost more than this.")
@click.option("--max-concurrency", type=click.IntRange(min=1), metavar="N", help="At most N calls in flight a model.")
@code_options
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@plugin_option
@store_option
@json_option
def command(file: Path, *, key: str | None, out: Path | None, quiet: bool, as_json: bool, **given: Any) -> None:
    """Make the rows of the generated dataset in FILE.

    They are kept in the project and used by `assay run` until what decides them changes: the generator, its source,
    its models. `assay run` makes them by itself when they are missing; this command shows them before.

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
        recipe, made = generate_file(file, Options(**given), key=key, listener=listener)
    for note in () if quiet else notes_on(recipe):
        click.echo(f"note: {shown(str(note))}", err=True)
    if out is not None:
        shutil.copyfile(recipe.file, out)
    if as_json:
        import orjson

        click.echo(orjson.dumps(generated_document(recipe, made), option=orjson.OPT_INDENT_2).decode())
    else:
        print_generated(console(), recipe, made, out or recipe.file)
