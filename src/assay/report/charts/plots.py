"""Distributions and developments: histograms, calibration, cost over time."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.charts.drawing import ACCENT, LINE, SOFT, Axis, Chart, drawing, element, text, tick_labels
from assay.text import counted, number

WIDTH, HEIGHT = 520, 190
LEFT, TOP, BOTTOM = 52, 12, 30


def histogram(edges: Sequence[float], counts: Sequence[int], *, name: str = "histogram", title: str) -> Chart:
    """Draw the number of samples between every two edges; `edges` has one entry more than `counts`."""
    across = Axis(edges[0], edges[-1] if edges[-1] > edges[0] else edges[0] + 1, LEFT, WIDTH - 8)
    up = Axis(0, max(max(counts, default=0), 1), HEIGHT - BOTTOM, TOP)
    parts = _count_lines(up)
    for low, high, n in zip(edges, edges[1:], counts, strict=False):
        if n:
            left, right = across(low), across(high)
            parts.append(
                element(
                    "rect",
                    element("title", f"{number(low)} to {number(high)}: {n:,}"),
                    class_="column",
                    fill=ACCENT,
                    x=left + 0.5,
                    y=up(n),
                    width=max(right - left - 1, 1.0),
                    height=HEIGHT - BOTTOM - up(n),
                )
            )
    parts += tick_labels(across, HEIGHT - 12)
    total = counted(sum(counts), "value")
    return Chart(
        name=name,
        title=title,
        svg=drawing((WIDTH, HEIGHT), parts, title=title, description=f"{total} in {len(counts)} columns."),
        columns=("From", "To", "Samples"),
        rows=tuple(
            (number(low), number(high), f"{n:,}") for low, high, n in zip(edges, edges[1:], counts, strict=False)
        ),
    )


def _count_lines(up: Axis) -> list[str]:
    parts = []
    for tick in (tick for tick in up.ticks(4) if tick == int(tick)):
        parts.append(element("line", class_="axis", stroke=LINE, x1=LEFT, x2=WIDTH - 8, y1=up(tick), y2=up(tick)))
        parts.append(
            text(f"{int(tick):,}", LEFT - 6, up(tick) + 4, text_anchor="end", fill=SOFT, class_="soft", font_size=11)
        )
    return parts


def calibration_plot(
    points: Sequence[tuple[float, float, int]], *, name: str = "calibration", title: str, across: str, up: str
) -> Chart:
    """Draw observed against stated shares per group; on the diagonal both are equal."""
    size = 240
    horizontal, vertical = Axis(0, 1, LEFT, LEFT + size), Axis(0, 1, TOP + size, TOP)
    most = max((n for _, _, n in points), default=1)
    parts = [
        element("rect", class_="frame", x=LEFT, y=TOP, width=size, height=size, fill="none", stroke=LINE),
        element(
            "line",
            class_="chance",
            stroke=SOFT,
            stroke_dasharray="2 2",
            x1=horizontal(0),
            y1=vertical(0),
            x2=horizontal(1),
            y2=vertical(1),
        ),
    ]
    for stated, actual, n in points:
        radius = 3 + 5 * (n / most) ** 0.5
        mark = element("title", f"{number(stated)}: {number(actual)} of {n:,}")
        parts.append(
            element("circle", mark, class_="pt", fill=ACCENT, cx=horizontal(stated), cy=vertical(actual), r=radius)
        )
    parts += tick_labels(horizontal, TOP + size + 16)
    parts += [
        text(f"{tick:g}", LEFT - 6, vertical(tick) + 4, text_anchor="end", fill=SOFT, class_="soft", font_size=11)
        for tick in vertical.ticks()
    ]
    parts.append(text(across, LEFT + size / 2, TOP + size + 32, text_anchor="middle", fill=SOFT, class_="soft"))
    description = f"{up} against {across} in {counted(len(points), 'group')}; the dashed line is perfect calibration."
    return Chart(
        name=name,
        title=title,
        svg=drawing((LEFT + size + 16, TOP + size + 40), parts, title=title, description=description),
        columns=(across, up, "n"),
        rows=tuple((number(stated), number(actual), f"{n:,}") for stated, actual, n in points),
    )


def cost_over_time(days: Sequence[tuple[str, float]], *, name: str = "cost", title: str) -> Chart:
    """Draw the cost per day in US dollars, and its cumulative sum."""
    total, sums = 0.0, []
    for _, cost in days:
        total += cost
        sums.append(total)
    across = Axis(0, max(len(days), 1), LEFT + 8, WIDTH - 8)
    up = Axis(0, total or 1.0, HEIGHT - BOTTOM, TOP)
    parts = []
    for tick in up.ticks(4):
        parts.append(element("line", class_="axis", stroke=LINE, x1=LEFT, x2=WIDTH - 8, y1=up(tick), y2=up(tick)))
        parts.append(
            text(f"${tick:g}", LEFT - 6, up(tick) + 4, text_anchor="end", fill=SOFT, class_="soft", font_size=11)
        )
    for place, (_, cost) in enumerate(days):
        left = across(place)
        parts.append(
            element(
                "rect",
                class_="column",
                fill=ACCENT,
                fill_opacity=0.6,
                x=left + 1,
                width=max(across(place + 1) - left - 2, 1.0),
                y=up(cost),
                height=HEIGHT - BOTTOM - up(cost),
            )
        )
    points = " ".join(f"{across(place + 0.5):.1f},{up(value):.1f}" for place, value in enumerate(sums))
    parts.append(element("polyline", class_="line", points=points, fill="none", stroke=ACCENT, stroke_width=2))
    for place in {0, len(days) - 1} if days else set():
        anchor = "start" if place == 0 else "end"
        x = across(0) if place == 0 else across(len(days))
        parts.append(text(days[place][0], x, HEIGHT - 10, text_anchor=anchor, fill=SOFT, class_="soft", font_size=11))
    return Chart(
        name=name,
        title=title,
        svg=drawing(
            (WIDTH, HEIGHT), parts, title=title, description=f"Columns: cost per day; line: the sum, ${total:,.2f}."
        ),
        columns=("Day", "Cost", "Sum"),
        rows=tuple((day, f"${cost:,.4f}", f"${value:,.4f}") for (day, cost), value in zip(days, sums, strict=True)),
    )
