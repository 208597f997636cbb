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
LABEL_WIDTH = 30
MISTAKES = 5


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often samples of each class were predicted as each class."""

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
        return [f"{truth} predicted as {predicted} ({n:,})" for n, truth, predicted in pairs[:MISTAKES]]


def confusion_of(metric: MetricReport) -> Confusion | None:
    """The confusion matrix of a classification metric; None for any other."""
    stored = metric.result.detail.get("confusion")
    if not isinstance(stored, dict) or not stored:
        return None
    if metric.type == "binary-classification":
        names = metric.result.detail.get("answers") or {"positive": "positive", "negative": "negative"}
        counts = ((stored["tp"], stored["fn"]), (stored["fp"], stored["tn"]))
        return Confusion((str(names["positive"]), str(names["negative"])), counts)
    if not all(isinstance(row, dict) for row in stored.values()):
        return None
    return Confusion(tuple(stored), tuple(tuple(row.values()) for row in stored.values()))


def confusion_lines(metric: MetricReport) -> Iterator[Table | Text]:
    """The matrix of a metric for a terminal; the commonest mistakes where it has too many classes.

    Classes whose names are too wide for a column are numbered: the number stands before the name in its row.
    """
    confusion = confusion_of(metric)
    if confusion is None:
        return
    rows = [shortened(name, NAME_WIDTH) for name in confusion.names]
    heads = rows
    if _width(rows, heads, confusion) > MOST_WIDTH:
        digits = len(str(len(confusion.names)))
        heads = [str(number) for number in range(1, len(confusion.names) + 1)]
        labels = [shortened(name, LABEL_WIDTH) for name in confusion.names]
        rows = [f"{head:>{digits}} {label}" for head, label in zip(heads, labels, strict=True)]
    if _width(rows, heads, confusion) > MOST_WIDTH:
        mistakes = "; ".join(confusion.mistakes()) or "none"
        yield Text(f"  {metric.key}: {len(rows)} classes; most frequent mistakes: {mistakes}", style="dim")
        return
    yield Text(f"  {metric.key}: confusion matrix (rows: ground truth)", style="dim")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, counts in zip(rows, confusion.counts, strict=True):
        table.add_row(Text(f"  {name}"), *(f"{n:,}" for n in counts))
    yield table


def _width(rows: list[str], heads: list[str], confusion: Confusion) -> int:
    """The columns of a terminal that a matrix with these names takes."""
    columns = [max(len(head), *(len(f"{row[i]:,}") for row in confusion.counts)) + 2 for i, head in enumerate(heads)]
    return 2 + max(map(len, rows), default=0) + 2 + sum(columns)
