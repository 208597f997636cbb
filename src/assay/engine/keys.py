"""The models that a task's own settings name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from assay.spec import LoadedTask


def model_keys(loaded: LoadedTask) -> Iterator[str]:
    """The models that a task's own settings name: judges, simulated users."""
    if loaded.solver is not None:
        yield from _named(loaded.solver.settings)
    for scorer in loaded.scorers:
        yield from _named(scorer.settings)


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            entry = getattr(value, name)
            if name == "model_key" and isinstance(entry, str):
                yield str(entry)
            else:
                yield from _named(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _named(entry)
