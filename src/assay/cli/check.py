"""`assay check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import FILE, config_option, json_option, plugin_option
from assay.cli.output import print_json, shown

if TYPE_CHECKING:
    from assay.api.check import Checked
    from assay.models.ping import PingResult


@click.command("check")
@click.argument("paths", type=FILE, nargs=-1)
@click.option(
    "--ping", "model", metavar="MODEL", help="Send MODEL one tiny request and explain any failure (key, name, address)."
)
@config_option
@click.option("--allow-outside", is_flag=True, help="Accept files outside the project folder.")
@plugin_option
@json_option
def command(
    paths: tuple[Path, ...], *, model: str | None, config: dict[str, str], allow_outside: bool, as_json: bool
) -> int:
    """Report every problem in PATHS (files, or folders with YAML files) without running anything.

    Without PATHS, checks the project that contains the current folder.

    Works offline. Prints each problem as file:line:column with the source line. With --json, problems are a list of
    {file, line, column, message, suggestion}, and a ping is {model, ok, message, latency_s}. Exit code 0 if there are
    no problems, otherwise 2.

    \b
    Examples:
      assay check                            every YAML file in the project
      assay check task.yaml
      assay check --ping openai/gpt-5-mini   is the model reachable? (exit code 3 if not)
    """
    if not paths and model is None:
        from assay.spec import project_folder

        paths = (project_folder(Path.cwd()),)
    checked = _checked(paths, config=config, allow_outside=allow_outside) if paths else None
    wrong = checked is not None and bool(checked.problems)
    answered = _pinged(model) if model is not None and not wrong else None
    if as_json:
        _print_json(checked, model, answered)
    else:
        _print(checked, answered)
    return 2 if wrong else 3 if answered is not None and not answered.ok else 0


def _checked(paths: tuple[Path, ...], *, config: dict[str, str], allow_outside: bool) -> Checked:
    from assay.api.check import check_files
    from assay.builtin import registry

    return check_files(paths, registry(), config=config, allow_outside=allow_outside)


def _pinged(model: str) -> PingResult:
    from assay.api.run import ping_model

    return ping_model(model, Path.cwd())


def _print_json(checked: Checked | None, model: str | None, answered: PingResult | None) -> None:
    """Print the problems as a list, the ping as an object, or both in one object."""
    from assay.report.problems import problem_documents

    problems = None if checked is None else problem_documents(checked.problems)
    ping = None
    if answered is not None:
        ping = {"model": model, "ok": answered.ok, "message": answered.message, "latency_s": answered.latency_s}
    print_json(problems if model is None else ping if problems is None else {"problems": problems, "ping": ping})


def _print(checked: Checked | None, answered: PingResult | None) -> None:
    if checked is not None:
        _print_checked(checked)
    if answered is not None:
        click.echo(shown(answered.message), err=not answered.ok)


def _print_checked(checked: Checked) -> None:
    from assay.text import counted

    for note in checked.notes:
        click.echo(f"note: {shown(str(note))}", err=True)
    for problem in checked.problems:
        click.echo(shown(str(problem)))
    files = counted(checked.n_files, "file")
    if not checked.problems:
        click.echo(f"{files} checked: no problems")
    elif checked.n_files:
        click.echo(f"{counted(len(checked.problems), 'problem')} in {files}")
