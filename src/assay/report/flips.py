"""Samples whose score changed between two runs, with both answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from assay.analysis.sample_query import FlippedSample
from assay.report.samples import value_text
from assay.report.table import Trimmed
from assay.text import clean, number

LONGEST_TEXT = 600
"""Longer texts are cut; `assay samples RUN --id ID` has all of them."""


def flips_document(flipped: Sequence[FlippedSample]) -> list[dict[str, Any]]:
    """The objects that `assay compare --show-flips --json` adds."""
    return [
        {
            "metric": each.address,
            "name": each.letter,
            "against": each.against,
            "sample_id": each.flip.sample_id,
            "before": each.flip.before,
            "after": each.flip.after,
            "sample": dict(each.sample),
            "answers": {each.against: list(each.answers_before), each.letter: list(each.answers_after)},
        }
        for each in flipped
    ]


def flips_text(flipped: Sequence[FlippedSample]) -> RenderableType:
    """The changed samples one below the other: the input, then what both runs answered."""
    if not flipped:
        return Text("\nno sample changed", style="dim")
    return Group(*(line for each in flipped for line in _lines(each)))


def _lines(each: FlippedSample) -> Iterator[RenderableType]:
    flip = each.flip
    change = f"{number(flip.before)} → {number(flip.after)}"
    style = "red" if flip.after < flip.before else "green"
    where = f"  {clean(each.address)}, {each.letter} against {each.against}"
    yield Text.assemble("\n", (f"sample {clean(flip.sample_id, width=40)}  ", "bold"), (change, style), (where, "dim"))
    answers = {*each.answers_before, *each.answers_after}
    for name, value in each.sample.items():
        # a column that holds the recorded answer is shown as the answer
        if str(value) not in (flip.sample_id, *answers):
            yield _text(f"{name}: {value_text(value)}", "")
    for letter, texts in ((each.against, each.answers_before), (each.letter, each.answers_after)):
        if not texts:
            yield _text(f"{letter} → (several rows)", "dim")
        for text in texts:
            yield _text(f"{letter} → {'(no answer)' if text is None else text}", "cyan")


def _text(text: str, style: str) -> RenderableType:
    return Trimmed(Padding(Text(clean(text, width=LONGEST_TEXT), style=style), (0, 0, 0, 2)))
