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
            "metric": flipped_sample.address,
            "name": flipped_sample.letter,
            "against": flipped_sample.against,
            "sample_id": flipped_sample.flip.sample_id,
            "before": flipped_sample.flip.before,
            "after": flipped_sample.flip.after,
            "sample": dict(flipped_sample.sample),
            "answers": {
                flipped_sample.against: list(flipped_sample.answers_before),
                flipped_sample.letter: list(flipped_sample.answers_after),
            },
        }
        for flipped_sample in flipped
    ]


def flips_text(flipped: Sequence[FlippedSample]) -> RenderableType:
    """The changed samples one below the other: the input, then what both runs answered."""
    if not flipped:
        return Text("\nno sample changed", style="dim")
    return Group(*(line for flipped_sample in flipped for line in _lines(flipped_sample)))


def _lines(flipped_sample: FlippedSample) -> Iterator[RenderableType]:
    flip = flipped_sample.flip
    change = f"{number(flip.before)} → {number(flip.after)}"
    style = "red" if flip.after < flip.before else "green"
    where = f"  {clean(flipped_sample.address)}, {flipped_sample.letter} against {flipped_sample.against}"
    yield Text.assemble("\n", (f"sample {clean(flip.sample_id, width=40)}  ", "bold"), (change, style), (where, "dim"))
    answers = {*flipped_sample.answers_before, *flipped_sample.answers_after}
    for name, value in flipped_sample.sample.items():
        # a column that holds the recorded answer is shown as the answer
        if str(value) not in (flip.sample_id, *answers):
            yield _text(f"{name}: {value_text(value)}", "")
    for letter, texts in (
        (flipped_sample.against, flipped_sample.answers_before),
        (flipped_sample.letter, flipped_sample.answers_after),
    ):
        if not texts:
            yield _text(f"{letter} → (several rows)", "dim")
        for text in texts:
            yield _text(f"{letter} → {'(no answer)' if text is None else text}", "cyan")


def _text(text: str, style: str) -> RenderableType:
    return Trimmed(Padding(Text(clean(text, width=LONGEST_TEXT), style=style), (0, 0, 0, 2)))
