"""The command line: finds the command, turns errors into sentences and exit codes."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from assay.cli.heartbeat import start_heartbeat, stop_heartbeat
from assay.errors import AssayError

COMMANDS = {
    "demo": "Show a real evaluation with intervals; needs no API key and no network.",
    "init": "Start a project with a task and a small dataset.",
    "list": "List the tasks, datasets, models and evaluations of a project.",
    "check": "Report every problem in task files without running them.",
    "plan": "Estimate the calls, tokens and cost of a run.",
    "run": "Run a task or an evaluation and print its metrics with intervals.",
    "generate": "Generate the rows of a dataset and show them.",
    "grade": "Grade texts against a rubric with one judge or a panel.",
    "rescore": "Score the stored answers of a run with other scorers, without asking a model.",
    "runs": "List the runs in the store.",
    "show": "Print the metrics and the provenance of a run.",
    "samples": "Show the samples behind the metrics: inputs, answers, scores, failures.",
    "view": "Show runs, samples and comparisons in a browser, and let people label answers.",
    "report": "Write a report of runs as one HTML file, Markdown or LaTeX, and its figures as SVG.",
    "compare": "Compare runs with a baseline, sample by sample.",
    "gate": "Check a run's metrics against thresholds and a baseline, for use in CI.",
    "agreement": "Measure how well judges agree with human labels and with each other.",
    "calibrate": "Correct a judge's scores with human labels on some samples.",
    "audit": "Probe a judge for position bias, verbosity bias, prompt injection and inconsistency.",
    "power": "Compute how many samples a comparison needs, or what difference it can detect.",
    "export": "Write the samples of a run to JSONL, CSV or Parquet, or the whole run to an archive.",
    "import": "Import results from Inspect, lm-evaluation-harness, AutoRubric, promptfoo, DeepEval or tables.",
    "pull": "Download a small open model that runs inside assay, without an API key.",
    "store": "Inspect the store, or migrate one written by an older version.",
    "schema": "Print the JSON Schema of task or dataset files for your editor.",
}


LONG_COMMANDS = {
    *("agreement", "calibrate", "check", "compare", "export", "gate", "import", "plan", "power"),
    *("report", "rescore", "run", "runs", "samples", "show"),
}
"""Commands that may work for seconds before they print anything, and that ask no questions."""
TRACEBACK_VARIABLE = "ASSAY_TRACEBACK"
"""Set this environment variable to see the traceback of a crash."""
CRASH_CHARACTERS = 500
STOPPING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that stop a command like Ctrl-C."""


class ReaderLeft(Exception):
    """The reader of our output has left (`| head`). That is not an error, although click treats it as one."""


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeft from error


class SuggestingGroup(click.Group):
    """Suggests the nearest command for a misspelt one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], names, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            ctx.fail(f'no such command "{args[0]}"{hint}')
        return super().resolve_command(ctx, args)


class LazyCommands(SuggestingGroup):
    """Loads a command's module only when that command is used: `--help` stays instant."""

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        with _writing():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _writing():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # from here on, for loading the libraries behind a command takes a moment too
        if cmd_name in LONG_COMMANDS:
            start_heartbeat()
        # a module cannot be called import
        module = importlib.import_module(f"assay.cli.{'import_' if cmd_name == 'import' else cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="assay", message="assay %(version)s")
def cli() -> None:
    """LLM evaluation whose numbers you can defend.

    A task file says where samples come from, how a model answers them, how the answers are scored, and which metrics
    are computed. Every metric has an interval. A failure is never a score.

    \b
    First steps:
      assay demo               see what a result looks like
      assay init my-project    start your own project
      assay run task.yaml      run a task

    Exit codes: 0 success, 1 a gate failed or a run is worse than its baseline, 2 invalid input, 3 the run failed or is
    partial, 130 interrupted (run the same command again to resume).
    """


def spare_threads() -> None:
    """Keep numpy's linear algebra from starting one thread per core: our arrays are small (saves 45 ms of CPU)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM (docker stop, a cancelled CI job) and SIGHUP (a closed terminal) stop the command like Ctrl-C.

    Answers that have arrived are committed.
    """

    def stop(number: int, frame: object) -> None:
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
            # a shell lets jobs in the background ignore Ctrl-C, and handing SIGTERM on to that would ignore it too
            raise KeyboardInterrupt
        # handed on, because the event loop has a handler of its own for Ctrl-C: it cancels, and waits for commits
        signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # nohup lets a command ignore SIGHUP, and means it
    numbers = [number for number in STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main() -> None:
    """Run the command line and exit with the code that the documentation lists."""
    spare_threads()
    with stopped_by_signals():
        _main()


def _main() -> None:
    try:
        try:
            code = cli.main(standalone_mode=False) or 0
        finally:
            stop_heartbeat()
        if code:
            _tidy_up()
        sys.exit(code)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.ClickException as wrong:
        wrong.show()
        _tidy_up()
        sys.exit(2)
    except AssayError as error:
        from assay.cli.output import shown

        click.echo(shown(str(error)), err=True)
        _tidy_up()
        sys.exit(error.exit_code)
    except ReaderLeft:
        # what is still buffered has no reader: the interpreter's last flush must not fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        sys.exit(130)
    # the last resort: an exit code of its own, because 1 says that a gate failed
    except Exception as error:
        _report_crash(error)
        sys.exit(3)


def _report_crash(error: Exception) -> None:
    """Report a crash in a few lines; the traceback is printed only on request."""
    import traceback
    from pathlib import Path

    from assay.cli.output import shown

    damage = _damaged_store()
    if damage is not None and not os.environ.get(TRACEBACK_VARIABLE):
        click.echo(shown(damage), err=True)
        return
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}"
    click.echo(
        f"assay crashed: {type(error).__name__}: {shown(str(error))[:CRASH_CHARACTERS]} ({where})\n"
        "This is a bug in assay or in a plug-in. Stored results are safe; run the same command again to resume.\n"
        f"Set {TRACEBACK_VARIABLE}=1 to see the traceback, and please report the problem.",
        err=True,
    )


def _damaged_store() -> str | None:
    """Describe the damage if a store that this command opened is damaged."""
    if "assay.store.store" not in sys.modules:
        return None
    from assay.api.stored import store_damage

    return store_damage()


def _tidy_up() -> None:
    """Remove a store that a failed command created and left empty."""
    if "assay.store.store" in sys.modules:
        from assay.api.stored import remove_new_stores

        remove_new_stores()
