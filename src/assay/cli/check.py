"""`assay check`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import FILE, config_values, json_option, shown


@click.command("check")
@click.argument("paths", type=FILE, nargs=-1)
@click.option(
    "--ping", "model", metavar="MODEL", help="Send MODEL one tiny request and explain a failure (key, name, address)."
)
@click.option(
    "--config",
    multiple=True,
    callback=config_values,
    metavar="KEY=VALUE",
    help="Set a parameter of the task's config_spec.",
)
@click.option("--allow-outside", is_flag=True, help="Let files lie outside the project folder.")
@json_option
def command(
    paths: tuple[Path, ...], *, model: str | None, config: dict[str, str], allow_outside: bool, as_json: bool
) -> int:
    """Find everything wrong with the files (or all YAML files of the folders) at PATHS, without running them.

    Offline and free. Prints each problem as file:line:column with the line itself; with --json a list of
    {file, line, column, message, suggestion}. Exit code 0 when all is well, 2 when not.

    \b
    Examples:
      assay check task.yaml
      assay check .                          every YAML file of the project
      assay check --ping openai/gpt-5-mini   can this model be asked? (3 when not)
    """
    if not paths and model is None:
        raise click.UsageError("name at least one file or folder, or a model with --ping")
    code = _check(paths, config=config, allow_outside=allow_outside, as_json=as_json) if paths else 0
    return code or (0 if model is None else _ping(model))


def _ping(model: str) -> int:
    from assay.engine.api import ping_model

    answered = ping_model(model, Path.cwd())
    click.echo(shown(answered.message), err=not answered.ok)
    return 0 if answered.ok else 3


def _check(paths: tuple[Path, ...], *, config: dict[str, str], allow_outside: bool, as_json: bool) -> int:
    from assay.builtin import registry
    from assay.engine.checking import check_files
    from assay.report.problems import problem_documents

    checked = check_files(paths, registry(), config=config, allow_outside=allow_outside)
    if as_json:
        import orjson

        click.echo(orjson.dumps(problem_documents(checked.problems), option=orjson.OPT_INDENT_2).decode())
        return 2 if checked.problems else 0
    for note in checked.notes:
        click.echo(f"note: {shown(str(note))}", err=True)
    for problem in checked.problems:
        click.echo(shown(str(problem)))
    if checked.problems:
        n = len(checked.problems)
        click.echo(f"{n} problem{'s' if n > 1 else ''} in {checked.n_files} file{'s' if checked.n_files != 1 else ''}")
        return 2
    click.echo(f"{checked.n_files} file{'s' if checked.n_files != 1 else ''} checked: no problems")
    return 0
