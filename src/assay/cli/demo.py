"""`assay demo`."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, console

if TYPE_CHECKING:
    from rich.console import Console

LOCAL_MODEL = "local/smollm2"
ASKED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of the demo, and what its numbers mean."""

    file: str
    meaning: str
    config: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    limit: int | None = None

    @property
    def command(self) -> str:
        """The command that does the same."""
        parts = [f"assay run {self.file}"]
        if self.model:
            parts.append(f"--model {self.model}")
        if self.limit:
            parts.append(f"--limit {self.limit}")
        return " ".join([*parts, *(f"--config {key}={value}" for key, value in self.config.items())])


RECORDED = (
    Step(
        file="mcqa.yaml",
        meaning="The steady model answers with one letter. The interval says how far luck\n"
        "alone could have moved the accuracy: with 48 questions, quite far. Each\n"
        "subject has only 8, so its interval is wide.",
    ),
    Step(
        file="mcqa.yaml",
        config={"recording": "chatty"},
        meaning="The chatty model writes sentences. Read by its first character, most of\n"
        'what it says is INVALID, or right by accident ("All of them" starts with\n'
        "an A). That measures its manners, not its knowledge.",
    ),
    Step(
        file="mcqa.yaml",
        config={"recording": "chatty", "reading": "letter"},
        meaning="The same answers, read with care (answer_extraction: letter). What has no\n"
        "clear letter stays INVALID and counts as wrong; a letter inside the\n"
        "reasoning never counts.",
    ),
    Step(
        file="facts.yaml",
        meaning="Yes or no. A reply that is neither is wrong for the accuracy of\n"
        "string_equals, and is excluded from the classification, which counts it\n"
        '("excluded"). Precision: of the answers "yes", how many were right?\n'
        'Recall: of the true "yes", how many were found?',
    ),
)
ASKED_NOW = Step(
    file="ask.yaml",
    model=LOCAL_MODEL,
    limit=ASKED,
    meaning="A real model, asked on this machine just now: 135 million parameters, and\n"
    "about as good as guessing (0.25). With 20 questions the interval cannot tell\n"
    "it from chance, and says so.",
)


@click.command("demo")
@click.option("--folder", type=FILE, help="Keep the demo project in this folder. Default: a temporary one.")
def command(folder: Path | None) -> None:
    """See a real evaluation with intervals: recorded answers of two models, no key and no network needed.

    With a local model (`assay pull smollm2` and the extra `local`) it also asks that model 20 of the questions.

    \b
    Examples:
      assay demo
      assay demo --folder my-demo     keep the project and play with it
    """
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
    from assay.cli.projects import copy_project

    copy_project("demo", folder)
    (folder / ".assay").mkdir(mode=0o700, exist_ok=True)
    terminal = console()
    for step in RECORDED:
        _run(step, folder, terminal)
    missing = _why_no_local_model()
    if missing:
        click.echo(f"\nNo model was asked live: {missing}")
    else:
        _run(ASKED_NOW, folder, terminal)


def _run(step: Step, folder: Path, terminal: Console) -> None:
    from rich.text import Text

    from assay.api.run import Options, run_file
    from assay.cli.progress import watch
    from assay.report.table import run_table

    terminal.print(Text(f"\n$ {step.command}", style="dim"))
    with watch(enabled=step.model is not None) as listener:
        options = Options(config=step.config, model=step.model, limit=step.limit)
        report, _ = run_file(folder / step.file, options, listener=listener)
    terminal.print(run_table(report))
    terminal.print(Text(f"\n{step.meaning}", style="italic"), soft_wrap=True)


def _why_no_local_model() -> str:
    """What stands in the way of the local model; empty when nothing does."""
    from importlib.util import find_spec

    from assay.models.local import PULLABLE, models_folder

    if find_spec("xllamacpp") is None:
        return "the extra is not installed (pip install 'assay[local]')"
    if not (models_folder() / PULLABLE["smollm2"].file).exists():
        return "the model is not there (assay pull smollm2)"
    return ""
