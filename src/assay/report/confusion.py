"""Confusion matrices: true classes in rows, predicted ones in columns; the commonest mistakes where they do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from assay.results.run import MetricReport
from assay.text import shortened

MOST_WIDTH = 76
"""Columns of a terminal that a matrix may take."""
NAME_WIDTH = 14
MISTAKES = 5


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often samples of each class were taken for each class."""

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def mistakes(self) -> list[str]:
        """The commonest mistakes in words, the most frequent first."""
        pairs = [
            (n, truth, predicted)
            for truth, row in zip(self.names, self.counts, strict=True)
            for predicted, n in zip(self.names, row, strict=True)
            if truth != predicted and n
        ]
        pairs.sort(key=lambda pair: -pair[0])
        return [f"{truth} taken for {predicted} {n:,}" for n, truth, predicted in pairs[:MISTAKES]]


def confusion_of(metric: MetricReport) -> Confusion | None:
    """The confusion matrix of a classification metric; None for any other."""
    written = metric.result.detail.get("confusion")
    if not isinstance(written, dict) or not written:
        return None
    if metric.type == "binary-classification":
        names = metric.result.detail.get("answers") or {"positive": "positive", "negative": "negative"}
        counts = ((written["tp"], written["fn"]), (written["fp"], written["tn"]))
        return Confusion((str(names["positive"]), str(names["negative"])), counts)
    if not all(isinstance(row, dict) for row in written.values()):
        return None
    return Confusion(tuple(written), tuple(tuple(row.values()) for row in written.values()))


def confusion_lines(metric: MetricReport) -> Iterator[Table | Text]:
    """The matrix of a metric for a terminal; the commonest mistakes where it has too many classes."""
    confusion = confusion_of(metric)
    if confusion is None:
        return
    names = [shortened(name, NAME_WIDTH) for name in confusion.names]
    corner = "truth \\ predicted"
    columns = [max(len(name), *(len(f"{row[i]:,}") for row in confusion.counts)) + 2 for i, name in enumerate(names)]
    if 2 + len(corner) + 2 + sum(columns) > MOST_WIDTH:
        mistakes = "; ".join(confusion.mistakes()) or "no mistakes"
        yield Text(f"  {len(names)} classes, most frequent mistakes: {mistakes}", style="dim")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(f"  {corner}", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for name, row in zip(names, confusion.counts, strict=True):
        table.add_row(Text(f"  {name}"), *(f"{n:,}" for n in row))
    yield table
