"""The building blocks of charts: SVG elements, colours, scales, and the chart with its data table."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.text import clean, number

# Colours are presentational attributes: a figure in a paper or a notebook has no stylesheet, and the stylesheet of a
# page overrides them, because every element has a class too.
TEXT, SOFT, LINE, ACCENT, GOOD, BAD = "#1c1d1f", "#5d6066", "#d4d4cf", "#2f5fd0", "#1b7a4b", "#b3362b"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
LABEL_CHARACTERS = 34
CHARACTER_WIDTH = 6.6
"""The width of a character in the 12-pixel font, slightly above the average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing, and the data that it draws as a table: `columns` are its heads, `rows` its cells."""

    name: str
    title: str
    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One value with its interval, drawn in its own line; `is_part` marks a group of the line above."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    is_part: bool = False


def element(tag: str, content: str = "", **attributes: object) -> str:
    """Build an SVG element; underscores in attribute names become hyphens, `class_` becomes `class`.

    >>> element("line", x1=0, x2=2.5, stroke_width=1)
    '<line x1="0" x2="2.5" stroke-width="1"/>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(_attribute(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _attribute(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def text(content: str, x: float, y: float, **attributes: object) -> str:
    """A piece of text at a point."""
    return element(
        "text",
        html.escape(clean(content)),
        x=x,
        y=y,
        **{"class_": "label", "fill": TEXT, "font_size": 12, **attributes},
    )


def drawing(size: tuple[float, float], parts: Iterable[str], *, title: str, description: str) -> str:
    """A whole SVG: readers of screens get its title and description, others see them as a tooltip."""
    width, height = size
    head = element("title", html.escape(clean(title))) + element("desc", html.escape(clean(description)))
    return element(
        "svg",
        head + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        role="img",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        font_family=FONT,
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear scale from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values along the axis.

        >>> Axis(0.0, 1.0, 0, 100).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        step = 10 ** math.floor(math.log10((self.high - self.low) / most))
        step *= next(factor for factor in (1, 2, 5, 10, 20) if (self.high - self.low) / (step * factor) <= most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def axis_over(values: Iterable[float], start: float, end: float) -> Axis:
    """Return a scale for all values: 0 to 1 if they lie within, else slightly more than their range."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low >= 0 and high <= 1:
        return Axis(0.0, 1.0, start, end)
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 0.5
    return Axis(low - margin, high + margin, start, end)


def tick_labels(axis: Axis, y: float) -> list[str]:
    """Draw the numbers below a horizontal axis."""
    return [
        text(f"{tick:g}", axis(tick), y, text_anchor="middle", fill=SOFT, class_="soft", font_size=11)
        for tick in axis.ticks()
    ]


def fitted(label: str, most: int = LABEL_CHARACTERS) -> str:
    """Shorten a label to the available width."""
    return clean(label, width=most)


def label_width(labels: Sequence[str], most: int = LABEL_CHARACTERS) -> float:
    """The pixels that the longest of some labels takes."""
    return max((len(fitted(label, most)) for label in labels), default=0) * CHARACTER_WIDTH + 14


def bounds_text(low: float | None, high: float | None) -> str:
    """Format both ends of an interval; empty without one."""
    if low is None and high is None:
        return ""
    return f"{'?' if low is None else number(low)} to {'?' if high is None else number(high)}"
