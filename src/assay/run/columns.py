"""The columns that templates read, checked against the data before a run."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from assay.errors import Problem
from assay.spec import LoadedDataset, LoadedTask
from assay.spec.fields import Template
from assay.template import check_syntax, columns_read

ROWS_LOOKED_AT = 1_000


def column_problems(loaded: LoadedTask, rows: Sequence[Mapping[str, Any]], dataset: LoadedDataset) -> Iterator[Problem]:
    """A problem for every template that cannot work, or reads a column which none of the rows has."""
    there = {name for row in rows for name in row} | {"sample_id"}
    for template in _templates(loaded):
        if "<< config." in template:
            continue
        wrong = check_syntax(template)
        if wrong is not None:
            yield Problem(message=wrong, place=template.place)
            continue
        if not rows:
            continue
        for use in columns_read(template):
            if use.name not in there:
                yield _missing(template, use.name, there, dataset)


def _templates(loaded: LoadedTask) -> Iterator[Template]:
    if loaded.solver is not None:
        yield from _inside(loaded.solver.settings)
    for scorer in loaded.scorers:
        yield from _inside(scorer.settings)
        for metric in scorer.metrics:
            yield from _inside(metric.settings)


def _inside(value: Any) -> Iterator[Template]:
    """Every template in settings, however deep."""
    if isinstance(value, Template):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _inside(getattr(value, name))
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _inside(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _inside(entry)


def _missing(template: Template, name: str, there: set[str], dataset: LoadedDataset) -> Problem:
    nearest = difflib.get_close_matches(name, sorted(there), n=1)
    listed = ", ".join(sorted(there - {"sample_id"})[:12])
    return Problem(
        message=f'the dataset has no column "{name}" (it has {listed})',
        place=template.place,
        suggestion=nearest[0] if nearest else None,
    )
