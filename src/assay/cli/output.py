"""What commands print: JSON for programs, tables and messages for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from assay.cli.heartbeat import stop_heartbeat

if TYPE_CHECKING:
    from rich.console import Console

TERMINAL_WIDTH = 100
PIPE_WIDTH = 100_000
"""A pipe has no width: nothing is cut or wrapped there, so that `assay runs | grep MODEL` finds long names."""
NARROWEST = 20


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    import orjson

    text = orjson.dumps(document, option=orjson.OPT_INDENT_2, default=_plain)
    stop_heartbeat()
    click.echo(text)


def _plain(value: Any) -> Any:
    """What JSON has for a value: a list for columns of records, a number for the exact amounts of an estimate."""
    return list(value) if isinstance(value, Sequence) else float(value)


def print_json_lines(documents: Iterable[Any]) -> None:
    """Print JSON Lines on stdout: one object per line."""
    import orjson

    # not click.echo: it flushes after every line, which is slow for a million samples
    for document in documents:
        stop_heartbeat()
        sys.stdout.buffer.write(orjson.dumps(document) + b"\n")
    sys.stdout.buffer.flush()


def shown(message: str) -> str:
    """Make a message safe for a terminal: it keeps its line breaks and loses control characters."""
    from assay.text import clean

    return "\n".join(clean(line) for line in message.splitlines())


def console() -> Console:
    """Open stdout for tables: at most 100 columns on a terminal, `COLUMNS` where it is set, no limit in a pipe."""
    from rich.console import Console

    stop_heartbeat()

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the process here, as if something had gone wrong
            raise BrokenPipeError

    terminal = Terminal(highlight=False, soft_wrap=False)
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > NARROWEST:
        terminal.width = min(int(columns), TERMINAL_WIDTH)
    else:
        terminal.width = min(terminal.width, TERMINAL_WIDTH) if terminal.is_terminal else PIPE_WIDTH
    return terminal
