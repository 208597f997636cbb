"""Values with their intervals, one below the other: forest plots and rank plots."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.charts.drawing import (
    ACCENT,
    LINE,
    SOFT,
    Axis,
    Bar,
    Chart,
    axis_over,
    bounds_text,
    drawing,
    element,
    fitted,
    label_width,
    text,
    tick_labels,
)
from assay.text import counted, number

WIDTH = 720
ROW = 26
SMALL_WIDTH, SMALL_HEIGHT = 260, 22


def interval_bar(bar: Bar, axis: tuple[float, float], reference: float | None = None) -> str:
    """One value with its interval as a small drawing for a cell of a table; `reference` is a dashed line."""
    scale = Axis(*axis, 6, SMALL_WIDTH - 6) if axis[1] > axis[0] else Axis(axis[0], axis[0] + 1, 6, SMALL_WIDTH - 6)
    middle = SMALL_HEIGHT / 2
    words = f"{number(bar.value)}, {bounds_text(bar.low, bar.high) or 'no interval'}"
    parts = [element("line", class_="axis", stroke=LINE, x1=0, x2=SMALL_WIDTH, y1=middle, y2=middle)]
    if reference is not None:
        parts.append(_reference(scale(reference), 2, SMALL_HEIGHT - 2))
    parts += _marks(bar, scale, middle)
    return element(
        "svg",
        "".join(parts),
        class_="bar",
        role="img",
        viewBox=f"0 0 {SMALL_WIDTH} {SMALL_HEIGHT}",
        width=SMALL_WIDTH,
        height=SMALL_HEIGHT,
        aria_label=words,
    )


def _reference(x: float, top: float, bottom: float) -> str:
    return element("line", class_="chance", stroke=SOFT, stroke_dasharray="2 2", x1=x, x2=x, y1=top, y2=bottom)


def _marks(bar: Bar, scale: Axis, y: float) -> list[str]:
    """The interval as a line, the value as a point; an end that is unknown reaches to the end of the scale."""
    parts = []
    if bar.low is not None or bar.high is not None:
        left = scale.start if bar.low is None else scale(bar.low)
        right = scale.end if bar.high is None else scale(bar.high)
        parts.append(
            element(
                "line",
                class_="ci",
                stroke=ACCENT,
                stroke_width=3,
                stroke_linecap="round",
                x1=left,
                x2=right,
                y1=y,
                y2=y,
            )
        )
    if bar.value is not None:
        parts.append(
            element("circle", class_="pt", fill=ACCENT, cx=scale(bar.value), cy=y, r=3.5 if bar.is_part else 4.5)
        )
    return parts


def interval_bars(
    bars: Sequence[Bar],
    *,
    name: str = "intervals",
    title: str,
    reference: tuple[str, float] | None = None,
    around_zero: bool = False,
) -> Chart:
    """A forest plot: one line per value, all on the same scale; `reference` is a named dashed line, such as chance.

    `around_zero` puts zero in the middle of the scale: for differences.
    """
    left = label_width([bar.label for bar in bars])
    values = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    axis = axis_over([*values, *([reference[1]] if reference else [])], left + 8, WIDTH - 130)
    if around_zero:
        reach = max((abs(value) for value in values), default=0.0) * 1.05 or 1.0
        axis = Axis(-reach, reach, left + 8, WIDTH - 130)
    height = ROW * len(bars) + 34
    parts = [
        element("line", class_="axis", stroke=LINE, x1=axis(tick), x2=axis(tick), y1=4, y2=height - 26)
        for tick in axis.ticks()
    ]
    if reference is not None:
        parts.append(_reference(axis(reference[1]), 4, height - 26))
    for place, bar in enumerate(bars):
        y = ROW * place + ROW / 2 + 4
        indent = 12 if bar.is_part else 0
        parts.append(text(fitted(bar.label), indent, y + 4))
        parts += _marks(bar, axis, y)
        words = number(bar.value) if bar.value is not None else "undefined"
        parts.append(text(words, WIDTH - 118, y + 4, font_weight="600"))
        parts.append(text(bounds_text(bar.low, bar.high), WIDTH - 76, y + 4, fill=SOFT, class_="soft", font_size=10))
    parts += tick_labels(axis, height - 10)
    told = f"; the dashed line is {reference[0]}, {number(reference[1])}" if reference else ""
    return Chart(
        name=name,
        title=title,
        svg=drawing(
            (WIDTH, height), parts, title=title, description=f"{counted(len(bars), 'value')} with intervals{told}."
        ),
        columns=("", "Value", "Interval", "n"),
        rows=tuple(
            (bar.label, number(bar.value), bounds_text(bar.low, bar.high), "" if bar.n is None else f"{bar.n:,}")
            for bar in bars
        ),
    )


def ranks(bars: Sequence[Bar], *, name: str = "ranks", title: str) -> Chart:
    """Draw a forest plot sorted from the greatest value, with ranks."""
    ordered = sorted((bar for bar in bars if bar.value is not None), key=lambda bar: -(bar.value or 0.0))
    numbered = [
        Bar(label=f"{rank}. {bar.label}", value=bar.value, low=bar.low, high=bar.high, n=bar.n)
        for rank, bar in enumerate(ordered, start=1)
    ]
    return interval_bars(numbered, name=name, title=title)
