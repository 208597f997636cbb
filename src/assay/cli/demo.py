"""`assay demo`."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE
from assay.cli.output import console

if TYPE_CHECKING:
    from rich.console import Console

LOCAL_MODEL = "local/smollm2"
ASKED = 20
REPORT = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run of the demo, with an explanation of its metrics."""

    file: str
    meaning: str
    config: dict[str, str] = field(default_factory=dict)
    model: str | None = None
    limit: int | None = None

    @property
    def command(self) -> str:
        """The equivalent command."""
        parts = [f"assay run {self.file}"]
        if self.model:
            parts.append(f"--model {self.model}")
        if self.limit:
            parts.append(f"--limit {self.limit}")
        return " ".join([*parts, *(f"--config {key}={value}" for key, value in self.config.items())])


RECORDED = (
    Step(
        file="mcqa.yaml",
        meaning="The steady model answers with one letter. The interval shows how precise\n"
        "the accuracy is: with 48 questions, not very. Each subject has only 8, so\n"
        "its interval is wider still.",
    ),
    Step(
        file="mcqa.yaml",
        config={"recording": "chatty"},
        meaning="The chatty model writes sentences. Judged by their first character, many of\n"
        "its replies are INVALID: they name no choice, and count as wrong. Others are\n"
        'right by accident ("All of them" starts with an A). This measures the\n'
        "format of the replies, not what the model knows.",
    ),
    Step(
        file="mcqa.yaml",
        config={"recording": "chatty", "reading": "letter"},
        meaning="The same answers, parsed with answer_extraction: letter. A reply without a\n"
        "clear choice is still INVALID and counts as wrong; a letter inside the\n"
        "reasoning never counts as the answer.",
    ),
    Step(
        file="facts.yaml",
        meaning="Yes or no. A reply that is neither counts as wrong in the accuracy of\n"
        "string_equals. The classification metrics exclude it and say how many they\n"
        'excluded. Precision: how many of the "yes" answers were right? Recall: how\n'
        'many of the questions whose answer is "yes" got a "yes"?',
    ),
)
ASKED_NOW = Step(
    file="ask.yaml",
    model=LOCAL_MODEL,
    limit=ASKED,
    meaning="A real model with 135 million parameters, asked just now on this machine.\n"
    "It is about as good as guessing (0.25): with 20 questions, the interval\n"
    "includes the accuracy of chance.",
)


@click.command("demo")
@click.option("--folder", type=FILE, help="Keep the demo project in this folder.  [default: a temporary folder]")
def command(folder: Path | None) -> None:
    """Show a real evaluation with intervals. It uses recorded answers of two models; no API key or network is needed.

    With a local model (`assay pull smollm2` and the extra `local`), it also asks that model 20 of the questions.

    \b
    Examples:
      assay demo
      assay demo --folder my-demo     keep the project and experiment with it
    """
    if folder is not None:
        _show(folder, folder / REPORT)
        click.echo(f"\nThe project is in {folder}. Change the files there and run them again.")
        click.echo("See its runs in a browser: assay view --open (in that folder)")
        return
    # the report stays when the project is gone
    report = Path(tempfile.mkdtemp(prefix="assay-demo-")) / REPORT
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as scratch:
        _show(Path(scratch) / "demo", report)
    click.echo(
        "\nWhat to try next:\n"
        "  assay demo --folder my-demo   keep this project and experiment with it\n"
        "  assay init my-project         start your own project\n"
        "  assay run --help              see all options of a run"
    )


def _show(folder: Path, report: Path) -> None:
    from assay.api.reports import write_report
    from assay.cli.projects import copy_project

    copy_project("demo", folder)
    (folder / ".assay").mkdir(mode=0o700, exist_ok=True)
    terminal = console()
    runs = [_run(step, folder, terminal) for step in RECORDED]
    missing = _why_no_local_model()
    if missing:
        click.echo(f"\nSkipped the live model: {missing}")
    else:
        _run(ASKED_NOW, folder, terminal)
    steady, _, chatty, _ = runs
    write_report(steady, chatty, to=report, store=str(folder / ".assay" / "assay.db"))
    click.echo(
        "\nA report that compares both models, with figures and the samples that differ:\n"
        f"  {report}\n"
        f"Open it with:\n  {_opener()} {report}"
    )


def _opener() -> str:
    """The command that opens a file in its program."""
    return {"darwin": "open", "win32": "start"}.get(sys.platform, "xdg-open")


def _run(step: Step, folder: Path, terminal: Console) -> str:
    """Run one step, show its metrics, and return the id of its run."""
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
    return report.run


def _why_no_local_model() -> str:
    """Say why the local model cannot be asked; empty if it can."""
    from importlib.util import find_spec

    from assay.models.local import PULLABLE, models_folder

    if find_spec("xllamacpp") is None:
        return "the extra is not installed (pip install 'assay[local]')"
    if not (models_folder() / PULLABLE["smollm2"].file).exists():
        return "the model is not downloaded (assay pull smollm2)"
    return ""
