"""Plans of comparisons: samples, difference and power, as JSON and as a table."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.report.table import Trimmed
from assay.results.power import PowerPlan
from assay.text import clean


def power_document(plan: PowerPlan) -> dict[str, Any]:
    """The object that `assay power --json` prints."""
    fields = ("paired", "assumption", "n", "effect", "power", "solved", "reason")
    return {
        "level": plan.level,
        "plans": [{name: getattr(planned, name) for name in fields} for planned in plan.planned],
        "notes": list(plan.notes),
    }


def power_table(plan: PowerPlan) -> RenderableType:
    """Build a table with one row per design; the computed quantity is bold."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for title in ("samples", "difference", "power"):
        table.add_column(title, justify="right")
    table.add_column("")
    for planned in plan.planned:
        name = "same samples" if planned.paired else "different samples, each run"
        cells = {
            "n": "none" if planned.n is None else f"{planned.n:,}",
            "effect": effect_words(planned.effect, in_points=planned.in_points),
            "power": f"{planned.power:.0%}".replace("%", " %"),
        }
        row = [Text(cell, style="bold" if planned.solved == key else "") for key, cell in cells.items()]
        table.add_row(
            name, *row, Text(clean(planned.reason or planned.assumption), style="yellow" if planned.reason else "dim")
        )
    level = f"{1 - plan.level:.0%}".replace("%", " %")
    foot = f"Two-sided, {level} false alarms. The power is the chance of finding the difference if it is there."
    notes = (Text(f"note: {clean(note)}", style="yellow") for note in plan.notes)
    return Group(Trimmed(table), Text(foot, style="dim"), *notes)


def effect_words(effect: float | None, *, in_points: bool) -> str:
    """A difference in points, or as it is.

    >>> effect_words(0.0312, in_points=True), effect_words(1.5, in_points=False), effect_words(None, in_points=True)
    ('3.1 points', '1.5', 'none')
    """
    if effect is None:
        return "none"
    return f"{effect * 100:.1f} points" if in_points else f"{effect:.3g}"
