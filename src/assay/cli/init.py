"""`assay init`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE

STARTERS = {
    "mcqa": "multiple choice over recorded answers",
    "judge": "a judge that classifies answers, compared with human labels",
    "rubric": "a panel of three judges and a rubric",
}
LAST = {
    "mcqa": "assay samples --wrong    see what was answered wrong",
    "judge": "assay samples --wrong    see what was judged wrong, and why",
    "rubric": "assay agreement          see how well the judges agree",
}


@click.command("init")
@click.argument("folder", type=FILE, default=Path())
@click.option(
    "--starter",
    type=click.Choice(list(STARTERS)),
    default="mcqa",
    show_default=True,
    help="The kind of project. " + "; ".join(f"{name}: {what}" for name, what in STARTERS.items()) + ".",
)
def command(folder: Path, starter: str) -> None:
    """Start a project in FOLDER (default: the current folder) with a task and a small dataset.

    Every starter runs as it is, without an API key. Existing files are never overwritten.

    \b
    Examples:
      assay init my-project
      assay init my-judge --starter judge
      assay init my-panel --starter rubric
    """
    from assay.cli.projects import copy_project

    names = copy_project(starter, folder)
    for name in names:
        click.echo(f"wrote {folder / name}")
    (folder / ".assay").mkdir(mode=0o700, exist_ok=True)
    go = "" if folder == Path() else f"  cd {folder}\n"
    click.echo(
        "\nNext:\n"
        f"{go}"
        "  assay check task.yaml    find mistakes without running anything\n"
        "  assay run task.yaml      run it and print metrics with intervals\n"
        f"  {LAST[starter]}"
    )
