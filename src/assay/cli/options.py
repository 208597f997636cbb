"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from assay.api.stored import RunRecord, Store

Function = TypeVar("Function", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
MANY_SAMPLES = 50_000
"""So many samples take a second or two to read."""


def store_option(function: Function) -> Function:
    return click.option(
        "--store",
        envvar="ASSAY_STORE",
        metavar="PATH",
        help="Where runs are kept. Default: .assay/assay.db in the project folder; or the variable ASSAY_STORE.",
    )(function)


def max_failures_option(function: Function) -> Function:
    return click.option(
        "--max-failures",
        type=click.FloatRange(0, 1),
        default=0.05,
        show_default=True,
        metavar="SHARE",
        help="Exit with 3 when more than this share of the scores failed.",
    )(function)


def name_options(function: Function) -> Function:
    """How the run can be named later."""
    for option in (
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag of the run; may be repeated."),
        click.option("--name", metavar="NAME", help="A name for the run; a name means the newest run that has it."),
    ):
        function = option(function)
    return function


def failures_option(function: Function) -> Function:
    return click.option(
        "--failures",
        type=click.Choice(["limit", "worst", "ignore"]),
        default="limit",
        show_default=True,
        help="A rule fails if more than --max-failures of its samples failed (limit); must hold with every failed "
        "sample at the worst end of its range (worst); or leaves failed samples out (ignore).",
    )(function)


def code_options(function: Function) -> Function:
    """What a person says about Python code in task files."""
    for option in (
        click.option(
            "--code-timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="How long one call of such code may take.",
        ),
        click.option(
            "--trust-code",
            is_flag=True,
            help="Run it without the sandbox, as you: for code that you would run yourself.",
        ),
        click.option(
            "--allow-code",
            is_flag=True,
            envvar="ASSAY_ALLOW_CODE",
            help="Let Python code in the files run, in a sandbox; or the variable ASSAY_ALLOW_CODE=1.",
        ),
    ):
        function = option(function)
    return function


def plugin_option(function: Function) -> Function:
    """Modules whose scorers and metrics files may name; handed on by the variable, as child processes need it too."""

    def take(ctx: click.Context, parameter: click.Parameter, modules: tuple[str, ...]) -> None:
        before = os.environ.get("ASSAY_PLUGINS", "")
        if modules:
            os.environ["ASSAY_PLUGINS"] = ",".join(filter(None, (before, *modules)))
            ctx.call_on_close(lambda: os.environ.__setitem__("ASSAY_PLUGINS", before))

    return click.option(
        "--plugin",
        multiple=True,
        callback=take,
        expose_value=False,
        metavar="MODULE",
        help="A Python module with scorers and metrics of your own; or the variable ASSAY_PLUGINS.",
    )(function)


def json_option(function: Function) -> Function:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, for machines.")(function)


def config_values(
    ctx: click.Context | None, parameter: click.Parameter | None, pairs: tuple[str, ...]
) -> dict[str, str]:
    """`--config key=value` pairs as a mapping."""
    values: dict[str, str] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise click.BadParameter(f'"{pair}" is not of the form key=value', ctx, parameter)
        values[key] = value
    return values


def config_option(function: Function) -> Function:
    return click.option(
        "--config",
        multiple=True,
        callback=config_values,
        metavar="KEY=VALUE",
        help="Set a parameter of the task's config_spec.",
    )(function)


def money(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> Decimal | None:
    """An amount in US dollars, exactly as written."""
    if text is None:
        return None
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise click.BadParameter(f'"{text}" is not an amount of US dollars, such as 0.50', ctx, parameter)
    return amount


def named_file(named: Path) -> Path:
    """The file itself, or the task or evaluation of the project that has this key."""
    if named.exists() or named.suffix or len(named.parts) != 1:
        return named
    from assay.errors import SpecError
    from assay.spec import Document, kind_of, project_folder
    from assay.spec.load import read_document
    from assay.spec.lookup import find_document

    def read(path: Path) -> Document:
        return read_document(path, strict=False)

    for kind in ("task", "evaluation"):
        try:
            file = find_document(kind, str(named), project_folder(Path.cwd() / "_"), read).path
        except SpecError:
            continue
        # what a run file defines has no file of its own
        if kind_of(read(file).data) == kind:
            return file
    return named


def set_by_hand() -> frozenset[str]:
    """The options that stand on the command line, as opposed to those that have their defaults."""
    context = click.get_current_context()
    by_default = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)
    return frozenset(name for name in context.params if context.get_parameter_source(name) not in by_default)


def find_store(location: str | None, *names: str) -> Store:
    """Open the store of the project around the current folder for reading; it is closed when the command ends.

    `names` are the runs that the command reads: where all of them are archives, no store is needed.
    """
    from assay.api.stored import read_project_store

    store = read_project_store(location, names)
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(store.close)
    return store


def tell_reading(records: Iterable[RunRecord]) -> None:
    """Say on stderr that much is being read, so that nobody wonders at the silence."""
    import orjson

    n = sum(orjson.loads(record.summary)["n_samples"] for record in records if record.summary is not None)
    if n >= MANY_SAMPLES:
        click.echo(f"reading {n:,} samples ...", err=True)


def shown(message: str) -> str:
    """A message as it may go to a terminal: its own line breaks, but no control characters."""
    from assay.text import clean

    return "\n".join(clean(line) for line in message.splitlines())


def console() -> Console:
    """A terminal to print on: colours only where there is one, and never more than 100 columns wide."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the process here, as if something had gone wrong
            raise BrokenPipeError

    made = Terminal(highlight=False, soft_wrap=False)
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdigit() and int(columns) > 20 else made.width
    if not made.is_terminal:
        width = int(columns) if columns.isdigit() and int(columns) > 20 else 80
    made.width = min(width, 100)
    return made
