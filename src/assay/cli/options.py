"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from assay.api.stored import RunRecord, Store

Function = TypeVar("Function", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)
MANY_SAMPLES = 50_000
"""Reading this many samples takes a second or two."""


def store_option(function: Function) -> Function:
    return click.option(
        "--store",
        envvar="ASSAY_STORE",
        metavar="PATH",
        help="The store: a file or postgresql://...; or set ASSAY_STORE.  "
        "[default: .assay/assay.db in the project folder]",
    )(function)


def max_failures_option(function: Function) -> Function:
    return click.option(
        "--max-failures",
        type=click.FloatRange(0, 1),
        default=0.05,
        show_default=True,
        metavar="SHARE",
        help="Exit with code 3 if more than this share of the scores failed.",
    )(function)


def name_options(function: Function) -> Function:
    """Let the command name and tag its run."""
    for option in (
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag the run; repeatable."),
        click.option("--name", metavar="NAME", help="Name the run. A name refers to the newest run that has it."),
    ):
        function = option(function)
    return function


def failures_option(function: Function) -> Function:
    return click.option(
        "--failures",
        type=click.Choice(["limit", "worst", "ignore"]),
        default="limit",
        show_default=True,
        help="How failed samples count. limit: a rule fails if more than --max-failures of its samples failed; "
        "worst: every failed sample gets the worst value of its range; ignore: failed samples are left out.",
    )(function)


def code_options(function: Function) -> Function:
    """Let the command run Python code in task files."""
    for option in (
        click.option(
            "--code-timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="Time limit of one call to such code.",
        ),
        click.option(
            "--trust-code",
            is_flag=True,
            help="Run it without the sandbox, with your own rights. Only for code that you trust.",
        ),
        click.option(
            "--allow-code",
            is_flag=True,
            envvar="ASSAY_ALLOW_CODE",
            help="Run Python code in the files, in a sandbox; or set ASSAY_ALLOW_CODE=1.",
        ),
    ):
        function = option(function)
    return function


def plugin_option(function: Function) -> Function:
    """Let the command load plug-ins; the environment variable hands them on to child processes."""

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
        help="Load a Python module with your own scorers and metrics; repeatable; or set ASSAY_PLUGINS.",
    )(function)


def log_options(function: Function) -> Function:
    """Let the command write what it does to a file or to stderr."""

    @functools.wraps(function)
    def logged(*arguments: Any, log_file: Path | None, verbose: int, **options: Any) -> Any:
        from assay.models.tracing import traced, wants_spans

        with ExitStack() as stack:
            if log_file is not None or verbose:
                from assay.models.logs import log_to

                stack.enter_context(log_to(log_file, verbose))
            if wants_spans():
                stack.enter_context(traced())
            return function(*arguments, **options)

    for option in (
        click.option(
            "--verbose",
            "-v",
            count=True,
            help="Print the events of the run on stderr: retries, failures, start and end; -vv also prints every call.",
        ),
        click.option(
            "--log-file", type=FILE, metavar="FILE", help="Append every event of the run to FILE, as JSON Lines."
        ),
    ):
        logged = option(logged)
    return cast("Function", logged)


def executor_options(function: Function) -> Function:
    """Let the command run on a Ray cluster."""
    for option in (
        click.option(
            "--actors",
            type=click.IntRange(min=1),
            default=2,
            show_default=True,
            metavar="N",
            help="Number of Ray actors, each with one CPU and what the model files ask for.",
        ),
        click.option(
            "--executor",
            type=click.Choice(["local", "ray"]),
            default="local",
            show_default=True,
            help="Where models are called and answers scored: in this process, or in actors of the Ray cluster at "
            "RAY_ADDRESS (without it, of one on this machine).",
        ),
    ):
        function = option(function)
    return function


def json_option(function: Function) -> Function:
    """Let the command print one JSON document."""
    return json_option_with("Print one JSON document instead of text.")(function)


def json_option_with(text: str) -> Callable[[Function], Function]:
    """Let the command print JSON, with a help text that says in what form."""
    return click.option("--json", "as_json", is_flag=True, help=text)


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
        help="Set a parameter of the task's config_spec; repeatable.",
    )(function)


def money(ctx: click.Context | None, parameter: click.Parameter | None, text: str | None) -> Decimal | None:
    """Parse an amount of US dollars exactly as written."""
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
    """Return the file itself, or the file of the task or evaluation that has this key."""
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
    """Name the options that were given on the command line, as opposed to those with default values."""
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


def open_runs(location: str | None, *names: str) -> tuple[Store, list[RunRecord]]:
    """Open the store for reading and find these runs in it, or in archives."""
    from assay.api.stored import find

    store = find_store(location, *names)
    return store, [find(store, name) for name in names]


def tell_reading(records: Iterable[RunRecord]) -> None:
    """Announce on stderr that many samples are being read, since it takes a moment."""
    import orjson

    n = sum(orjson.loads(record.summary)["n_samples"] for record in records if record.summary is not None)
    if n >= MANY_SAMPLES:
        click.echo(f"reading {n:,} samples ...", err=True)
