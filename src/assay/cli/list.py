"""`assay list`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, json_option, plugin_option
from assay.cli.output import console, print_json, shown

if TYPE_CHECKING:
    from assay.api.project import Listing

PROBLEMS_SHOWN = 5


@click.command("list")
@click.argument("folder", type=FILE, default=Path())
@plugin_option
@json_option
def command(folder: Path, *, as_json: bool) -> int:
    """List the evaluations, tasks, datasets, models and rubrics of the project that contains FOLDER.

    FOLDER is the current folder by default. Task and run files refer to these items by key. Problems are listed below
    them, with exit code 2; `assay check .` shows every problem with its source line.

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
    document = {
        "found": [
            {
                "kind": item.kind,
                "key": item.key,
                "display_name": item.display_name,
                "file": item.place.file,
                "line": item.place.line,
            }
            for item in listing.found
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
    print_json(document)


def _print(listing: Listing, folder: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from assay.report.table import Trimmed
    from assay.text import counted

    terminal = console()
    if not listing.found:
        terminal.print("No assay files here; `assay init` starts a project.")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title, most in (("", 18), ("key", 30), ("name", 26), ("where", 30)):
        table.add_column(title, overflow="fold", max_width=most)
    last = ""
    for item in listing.found:
        kind = "run file" if item.kind == "run" else item.kind
        where = f"{_relative(item.place.file, folder)}:{item.place.line}"
        table.add_row(kind if kind != last else "", shown(item.key), shown(item.display_name or ""), shown(where))
        last = kind
    if listing.found:
        terminal.print(Trimmed(table))
    if listing.problems:
        n = len(listing.problems)
        terminal.print(Text(f"\n{counted(n, 'problem')}:", style="bold yellow"))
        for problem in listing.problems[:PROBLEMS_SHOWN]:
            terminal.print(Text(shown(str(problem).splitlines()[0])))
        if n > PROBLEMS_SHOWN:
            terminal.print(Text(f"(+{n - PROBLEMS_SHOWN} more: assay check {folder})", style="dim"))


def _relative(file: str, folder: Path) -> str:
    path = Path(file)
    absolute = path if path.is_absolute() else Path.cwd() / path
    return str(absolute.relative_to(folder)) if absolute.is_relative_to(folder) else file
