"""`assay init`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE


@click.command("init")
@click.argument("folder", type=FILE, default=Path())
def command(folder: Path) -> None:
    """Start a project in FOLDER (default: here): a task, a small dataset, and the commands to go on with.

    Existing files are never overwritten.

    \b
    Example:
      assay init my-project
    """
    from assay.cli.projects import copy_project

    names = copy_project("mcqa", folder)
    for name in names:
        click.echo(f"wrote {folder / name}")
    (folder / ".assay").mkdir(exist_ok=True)
    go = "" if folder == Path() else f"  cd {folder}\n"
    click.echo(
        "\nNext:\n"
        f"{go}"
        "  assay check task.yaml    find mistakes without running anything\n"
        "  assay run task.yaml      run it; numbers come with intervals\n"
        "  assay samples --wrong    see what was answered wrong"
    )
