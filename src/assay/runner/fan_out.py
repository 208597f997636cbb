"""Samples of which several rows are scored: how their rows are numbered, so that a run can be resumed.

The row n of the cell at position p has the position p x MAX_FANOUT + n. All rows of a cell are committed together.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import orjson

from assay.runner.cell import Answered
from assay.runner.scoring import Solved
from assay.store import sample_rows as evidence
from assay.store.row_address import RowLayout
from assay.store.store import Store
from assay.types import MAX_FANOUT, Failure, Fanned, Rows, Trace

FANNED = RowLayout(fan_out=MAX_FANOUT)
"""Trials are counted before answers are split, so positions are cells here."""


def done_cells(store: Store, run_no: int, layout: RowLayout) -> array[int]:
    """The positions of the cells that are stored, in order."""
    positions = evidence.done_positions(store, run_no)
    if layout.fan_out == 1:
        return positions
    return array("q", (cell for cell, _ in groupby(map(layout.cell, positions))))


def row_id(sample_id: str, n: int) -> str:
    """Return the id of a row: that of its sample, and its number.

    >>> row_id("q7", 2)
    'q7/2'
    """
    return f"{sample_id}/{n}"


def fanned_batch(solved: Solved, fanned: Sequence[Sequence[Fanned] | Failure]) -> Solved:
    """A solved batch with the rows that became of its answered rows; those that failed keep one row each."""
    rows_of_answers = iter(fanned)
    entries: list[tuple[int, str, Fanned, str]] = []
    failures: dict[int, Failure] = {}
    rows = solved.rows
    for place, position in enumerate(rows.positions):
        became = solved.failures[place] if place in solved.failures else next(rows_of_answers)
        first = FANNED.first_position(position)
        if isinstance(became, Failure):
            failures[len(entries)] = became
            nothing = Fanned(sample=rows.samples[place], answer="", trace=Trace(()))
            entries.append((first, rows.ids[place], nothing, solved.inputs[place]))
        else:
            entries += [
                (first + n, row_id(rows.ids[place], n), row, orjson.dumps(row.sample).decode())
                for n, row in enumerate(became)
            ]
    return Solved(
        rows=Rows(
            positions=[position for position, _, _, _ in entries],
            ids=[sample_id for _, sample_id, _, _ in entries],
            samples=[row.sample for _, _, row, _ in entries],
            answers=[row.answer for _, _, row, _ in entries],
            traces=[row.trace for _, _, row, _ in entries],
        ),
        inputs=[text for _, _, _, text in entries],
        failures=failures,
    )


def fanned_cell(answered: Answered, rows: Sequence[Fanned]) -> list[Answered]:
    """Return an answered cell as its rows; the first one represents the cell where cells are counted."""
    cells: list[Answered] = []
    for n, row in enumerate(rows):
        cell = replace(
            answered.cell,
            position=FANNED.first_position(answered.cell.position) + n,
            sample_id=row_id(answered.cell.sample_id, n),
            sample=row.sample,
            text=orjson.dumps(row.sample).decode(),
        )
        cells.append(Answered(cell, answered.calls, answer=row.answer, trace=row.trace, first=n == 0))
    return cells
