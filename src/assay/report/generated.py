"""A generated dataset as JSON and on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.text import Text

from assay.generation.generate import Generated
from assay.prepare.recipes import Recipe
from assay.text import clean, counted

ROWS_SHOWN = 3


def generated_document(recipe: Recipe, generated: Generated | None) -> dict[str, Any]:
    """The object that `assay generate --json` prints."""
    about = orjson.loads(recipe.about.read_bytes())
    cost = [spent.cost_usd for spent in generated.spending] if generated is not None else []
    return {
        **about,
        "file": str(recipe.file),
        "made_now": generated is not None,
        "cost_usd": None if None in cost else float(sum(amount for amount in cost if amount is not None)),
    }


def print_generated(terminal: Console, recipe: Recipe, generated: Generated | None, file: Path) -> None:
    """Print how many rows were generated, the first of them, and their cost."""
    about = orjson.loads(recipe.about.read_bytes())
    state = "made" if generated is not None else "up to date: nothing has changed"
    made_of = f"{counted(about['n_rows'], 'row')} from {counted(about['n_sources'], 'source row')}"
    title = f"{about['dataset']}: {made_of} ({state})"
    terminal.print(Text(clean(title), style="bold"))
    requested = recipe.dataset.num_samples
    if about["n_rows"] < requested:
        terminal.print(Text(f"fewer than the {requested:,} requested: the source has no more", style="yellow"))
    for failed in about["failed"][:ROWS_SHOWN]:
        terminal.print(Text(f"failed {clean(failed['source'])}: {clean(failed['detail'])}", style="yellow"))
    with recipe.file.open(encoding="utf-8") as rows:
        for _, line in zip(range(ROWS_SHOWN), rows, strict=False):
            terminal.print(Text(clean(f"  {line.strip()}", width=terminal.width)))
    for spent in generated.spending if generated is not None else ():
        cost = "cost unknown" if spent.cost_usd is None else f"${spent.cost_usd:,.4f}"
        terminal.print(Text(f"{clean(spent.model)}: {counted(spent.n_calls, 'call')}, {cost}", style="dim"))
    terminal.print(Text(str(file), style="dim", overflow="fold"))
