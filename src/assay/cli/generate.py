"""`assay generate`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import FILE, code_options, console, json_option, money, shown, store_option

if TYPE_CHECKING:
    from assay.engine.generate import Generated
    from assay.engine.generated import Recipe

ROWS_SHOWN = 3


@click.command("generate")
@click.argument("file", type=FILE)
@click.option("--dataset", "key", metavar="KEY", help="Which dataset, when FILE is a run file that defines several.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the rows to this JSONL file too.")
@click.option("--fresh", is_flag=True, help="Make the rows anew, asking models again, even when they are there.")
@click.option("--max-cost", callback=money, metavar="USD", help="Stop before generating could cost more than this.")
@click.option("--max-concurrency", type=click.IntRange(min=1), metavar="N", help="At most N calls in flight a model.")
@code_options
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
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
    from assay.cli.progress import watch
    from assay.engine.api import generate_file
    from assay.engine.prepare import Options

    with watch(enabled=not quiet) as listener:
        recipe, made = generate_file(file, Options(**given), key=key, listener=listener)
    if out is not None:
        shutil.copyfile(recipe.file, out)
    if as_json:
        _print_json(recipe, made)
    else:
        _print(recipe, made, out or recipe.file)


def _print_json(recipe: Recipe, made: Generated | None) -> None:
    import orjson

    about = orjson.loads(recipe.about.read_bytes())
    cost = [spent.cost_usd for spent in made.spending] if made is not None else []
    document = {
        **about,
        "file": str(recipe.file),
        "made_now": made is not None,
        "cost_usd": None if None in cost else float(sum(amount for amount in cost if amount is not None)),
    }
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def _print(recipe: Recipe, made: Generated | None, file: Path) -> None:
    import orjson
    from rich.text import Text

    from assay.report.text import clean, counted

    about = orjson.loads(recipe.about.read_bytes())
    terminal = console()
    what = "made" if made is not None else "there already, nothing has changed"
    made_of = f"{counted(about['n_rows'], 'row')} from {counted(about['n_sources'], 'source row')}"
    title = f"{about['dataset']}: {made_of} ({what})"
    terminal.print(Text(shown(title), style="bold"))
    wanted = recipe.dataset.num_samples
    if about["n_rows"] < wanted:
        terminal.print(Text(f"fewer than the {wanted:,} asked for: the source has no more", style="yellow"))
    for failed in about["failed"][:ROWS_SHOWN]:
        terminal.print(Text(f"failed {shown(failed['source'])}: {shown(failed['detail'])}", style="yellow"))
    with recipe.file.open(encoding="utf-8") as rows:
        for _, line in zip(range(ROWS_SHOWN), rows, strict=False):
            terminal.print(Text(clean(f"  {line.strip()}", width=terminal.width)))
    for spent in made.spending if made is not None else ():
        cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:,.4f}"
        terminal.print(Text(f"{shown(spent.model)}: {counted(spent.n_calls, 'call')}, {cost}", style="dim"))
    terminal.print(Text(str(file), style="dim", overflow="fold"))
