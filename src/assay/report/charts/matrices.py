"""Numbers in a grid: heat maps, confusion matrices, agreement between judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assay.report.charts.drawing import (
    ACCENT,
    BAD,
    GOOD,
    LINE,
    SOFT,
    Chart,
    drawing,
    element,
    fitted,
    label_width,
    text,
)
from assay.text import number

CELL_WIDTH, CELL_HEIGHT = 64, 26
SLANTED = 8
"""Column heads with more characters than that are slanted."""
COLUMN_CHARACTERS = 22


def heat_map(
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[float | None]]],
    *,
    name: str = "heat-map",
    title: str,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Chart:
    """Draw a grid of values, each printed in its cell; stronger colours mean greater values."""
    low, high = bounds
    span = (high - low) or 1.0

    def shade(value: float | None, _row: int, _column: int) -> tuple[str, str, float]:
        share = 0.0 if value is None else min(max((value - low) / span, 0.0), 1.0)
        return "heat", ACCENT, 0.05 + 0.45 * share

    cells = [(label, [_cell(value) for value in values]) for label, values in rows]
    numbers = [values for _, values in rows]
    return _grid(columns, cells, numbers, shade, name=name, title=title, described="darker cells hold greater values")


def _cell(value: float | None) -> str:
    return "–" if value is None else number(value)


def confusion_matrix(
    names: Sequence[str], counts: Sequence[Sequence[int]], *, name: str = "confusion", title: str
) -> Chart:
    """Draw how often each class (row) was predicted as each class (column); the diagonal is right."""
    totals = [sum(row) or 1 for row in counts]

    def shade(value: float | None, row: int, column: int) -> tuple[str, str, float]:
        share = (value or 0.0) / totals[row]
        kind = ("hit", GOOD) if row == column else ("miss", BAD)
        return (*kind, 0.06 + 0.4 * share if value else 0.0)

    cells = [(label, [f"{n:,}" for n in row]) for label, row in zip(names, counts, strict=True)]
    numbers: list[list[float | None]] = [[float(n) for n in row] for row in counts]
    described = "ground truth in rows, predictions in columns; the diagonal is right"
    return _grid(names, cells, numbers, shade, name=name, title=title, described=described, diagonal=True)


def agreement_matrix(
    raters: Sequence[str], pairs: Mapping[tuple[str, str], float | None], *, name: str = "agreement", title: str
) -> Chart:
    """Draw the agreement of every pair of raters; half of the pairs suffices."""
    both = {**{(b, a): value for (a, b), value in pairs.items()}, **pairs}
    rows = [(rater, [None if rater == other else both.get((rater, other)) for other in raters]) for rater in raters]
    return heat_map(raters, rows, name=name, title=title)


def _grid(
    columns: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    numbers: Sequence[Sequence[float | None]],
    shade: Callable[[float | None, int, int], tuple[str, str, float]],
    *,
    name: str,
    title: str,
    described: str,
    diagonal: bool = False,
) -> Chart:
    left = label_width([label for label, _ in rows])
    longest = max((len(fitted(column, COLUMN_CHARACTERS)) for column in columns), default=0)
    slanted = longest > SLANTED
    top = 18 + (longest * 4.6 if slanted else 6)
    width = left + CELL_WIDTH * len(columns) + (longest * 4.6 if slanted else 0) + 4
    parts = []
    for place, column in enumerate(columns):
        x = left + CELL_WIDTH * (place + 0.5)
        turn = (
            {"transform": f"rotate(-40 {x:g} {top - 8:g})", "text_anchor": "start"}
            if slanted
            else {"text_anchor": "middle"}
        )
        parts.append(text(fitted(column, COLUMN_CHARACTERS), x, top - 8, fill=SOFT, **{**turn, "class_": "soft"}))
    for i, (label, cells) in enumerate(rows):
        y = top + CELL_HEIGHT * i
        parts.append(text(fitted(label), 0, y + 17))
        for j, cell in enumerate(cells):
            kind, colour, opacity = shade(numbers[i][j], i, j)
            x = left + CELL_WIDTH * j
            parts.append(
                element(
                    "rect",
                    class_=f"cell {kind}",
                    x=x,
                    y=y,
                    width=CELL_WIDTH - 2,
                    height=CELL_HEIGHT - 2,
                    rx=2,
                    fill=colour,
                    fill_opacity=round(opacity, 3),
                    stroke=LINE,
                    # colour alone must not tell right from wrong
                    stroke_width=2 if diagonal and i == j else 0.5,
                )
            )
            parts.append(text(cell, x + CELL_WIDTH / 2 - 1, y + 16, text_anchor="middle", font_size=11))
    height = top + CELL_HEIGHT * len(rows) + 4
    return Chart(
        name=name,
        title=title,
        svg=drawing((max(width, 160), height), parts, title=title, description=f"{title}: {described}."),
        columns=("", *columns),
        rows=tuple((label, *cells) for label, cells in rows),
    )
