"""`assay list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, console, json_option, plugin_option, shown

if TYPE_CHECKING:
    from assay.api.project import Listing

PROBLEMS_SHOWN = 5


@click.command("list")
@click.argument("folder", type=FILE, default=Path())
@plugin_option
@json_option
def command(folder: Path, *, as_json: bool) -> int:
    """List the evaluations, tasks, datasets, models and rubrics of the project around FOLDER (default: here).

    What is listed can be named by its key in task and run files. What is wrong with a file stands below; exit code 2
    then. `assay check .` shows every problem with its line.

    \b
    Examples:
      assay list
      assay list my-project --json
    """
    from assay.api.project import list_project
    from assay.builtin import registry
    from assay.errors import SpecError
    from assay.spec import project_folder

    if not folder.is_dir():
        raise SpecError(f"there is no folder {folder}")
    root = project_folder(folder)
    listing = list_project(root, registry())
    if as_json:
        _print_json(listing)
    else:
        _print(listing, root)
    return 2 if listing.problems else 0


def _print_json(listing: Listing) -> None:
    import orjson

    document = {
        "found": [
            {
                "kind": each.kind,
                "key": each.key,
                "display_name": each.display_name,
                "file": each.place.file,
                "line": each.place.line,
            }
            for each in listing.found
        ],
        "problems": [
            {
                "file": problem.place.file if problem.place else None,
                "line": problem.place.line if problem.place else None,
                "message": problem.message,
            }
            for problem in listing.problems
        ],
    }
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def _print(listing: Listing, folder: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.report.table import Trimmed

    terminal = console()
    if not listing.found:
        terminal.print("Nothing of assay's here: `assay init` starts a project.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title, most in (("", 18), ("key", 30), ("name", 26), ("where", 30)):
        table.add_column(title, overflow="fold", max_width=most)
    last = ""
    for each in listing.found:
        kind = "run file" if each.kind == "run" else each.kind
        where = f"{_relative(each.place.file, folder)}:{each.place.line}"
        table.add_row(kind if kind != last else "", shown(each.key), shown(each.display_name or ""), shown(where))
        last = kind
    if listing.found:
        terminal.print(Trimmed(table))
    if listing.problems:
        n = len(listing.problems)
        terminal.print(Text(f"\n{n} problem{'s' if n > 1 else ''}:", style="bold yellow"))
        for problem in listing.problems[:PROBLEMS_SHOWN]:
            terminal.print(Text(shown(str(problem).splitlines()[0])))
        if n > PROBLEMS_SHOWN:
            terminal.print(Text(f"(+{n - PROBLEMS_SHOWN} more: assay check {folder})", style="dim"))


def _relative(file: str, folder: Path) -> str:
    path = Path(file)
    absolute = path if path.is_absolute() else Path.cwd() / path
    return str(absolute.relative_to(folder)) if absolute.is_relative_to(folder) else file
