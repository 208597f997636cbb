"""`assay demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from assay.cli.options import FILE, console

STEPS: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        "mcqa.yaml",
        {},
        "The steady model answers with one letter. The interval says how far luck alone could have moved the\n"
        "accuracy: with 48 questions, quite far. Each subject has only 8, so its interval is wide.",
    ),
    (
        "mcqa.yaml",
        {"recording": "chatty"},
        "The chatty model writes sentences. Read by its first character, most of what it says is INVALID (or an\n"
        'accident: "All of them" starts with an A). That measures its manners, not its knowledge.',
    ),
    (
        "mcqa.yaml",
        {"recording": "chatty", "reading": "letter"},
        "The same answers, read with care (answer_extraction: letter). What still has no clear letter stays INVALID\n"
        "and counts as wrong; a letter inside the reasoning never counts.",
    ),
    (
        "facts.yaml",
        {},
        "Yes or no. A reply that is neither is wrong for the accuracy of string_equals, and is left out of the\n"
        'classification, where it is counted beside the table ("left out"). Precision: of the answers "yes", how\n'
        'many were right? Recall: of the true "yes", how many were found?',
    ),
)


@click.command("demo")
@click.option("--folder", type=FILE, help="Keep the demo project in this folder. Default: a temporary one.")
def command(folder: Path | None) -> None:
    """See a real evaluation with intervals: recorded answers of two models, no key and no network needed."""
    if folder is not None:
        _show(folder)
        click.echo(f"\nThe project is in {folder}: cd there and change something.")
        return
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as scratch:
        _show(Path(scratch) / "demo")
    click.echo(
        "\nWhat to try next:\n"
        "  assay demo --folder my-demo   keep this project and play with it\n"
        "  assay init my-project         start a project of your own\n"
        "  assay run --help              everything that a run can be told"
    )


def _show(folder: Path) -> None:
    from rich.text import Text

    from assay.cli.projects import copy_project
    from assay.engine.api import run_file
    from assay.engine.prepare import Options
    from assay.report.table import run_table

    copy_project("demo", folder)
    (folder / ".assay").mkdir(exist_ok=True)
    terminal = console()
    for file, config, meaning in STEPS:
        settings = "".join(f" --config {key}={value}" for key, value in config.items())
        terminal.print(Text(f"\n$ assay run {file}{settings}", style="dim"))
        report, _ = run_file(folder / file, Options(config=config))
        terminal.print(run_table(report))
        terminal.print(Text(f"\n{meaning}", style="italic"), soft_wrap=True)
