"""What a run file without an evaluation defines, as JSON and on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from assay.results.defined import Defined
from assay.text import clean, counted


def defined_document(defined: Defined) -> dict[str, Any]:
    """The object that `assay run --json` prints for a run file without an evaluation."""
    return {
        "evaluation": None,
        "defines": [
            {"kind": each.kind, "key": each.key, "file": each.place.file, "line": each.place.line}
            for each in defined.parts
        ],
        "datasets": [
            {"key": made.key, "file": str(made.file), "n_rows": made.n_rows, "made_now": made.made_now}
            for made in defined.datasets
        ],
    }


def print_defined(terminal: Console, defined: Defined) -> None:
    """Print what the run file defines, kind by kind, and the rows of its generated datasets."""
    terminal.print(Text(f"{defined.file.name} has no evaluation to run; it defines:", style="bold"))
    by_kind: dict[str, list[str]] = {}
    for each in defined.parts:
        by_kind.setdefault(each.kind, []).append(each.key)
    for kind, keys in by_kind.items():
        terminal.print(Text(clean(f"  {counted(len(keys), kind)}: {', '.join(keys)}")), soft_wrap=True)
    for made in defined.datasets:
        when = "generated now" if made.made_now else "there already"
        terminal.print(Text(clean(f"  {made.key}: {counted(made.n_rows, 'row')} ({when})"), style="dim"))
