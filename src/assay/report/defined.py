"""The definitions in a run file without an evaluation, as JSON and on a terminal."""

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
            {"kind": part.kind, "key": part.key, "file": part.place.file, "line": part.place.line}
            for part in defined.parts
        ],
        "datasets": [
            {"key": dataset.key, "file": str(dataset.file), "n_rows": dataset.n_rows, "made_now": dataset.made_now}
            for dataset in defined.datasets
        ],
    }


def print_defined(terminal: Console, defined: Defined) -> None:
    """Print what the run file defines, kind by kind, and the rows of its generated datasets."""
    terminal.print(Text(f"{defined.file.name} has no evaluation to run; it defines:", style="bold"))
    by_kind: dict[str, list[str]] = {}
    for part in defined.parts:
        by_kind.setdefault(part.kind, []).append(part.key)
    for kind, keys in by_kind.items():
        terminal.print(Text(clean(f"  {counted(len(keys), kind)}: {', '.join(keys)}")), soft_wrap=True)
    for dataset in defined.datasets:
        when = "generated now" if dataset.made_now else "there already"
        terminal.print(Text(clean(f"  {dataset.key}: {counted(dataset.n_rows, 'row')} ({when})"), style="dim"))
