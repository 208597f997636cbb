"""Resolve the models that a task's settings name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from assay.errors import Problem, SpecError
from assay.spec import LoadedScorer, LoadedSolver, LoadedTask
from assay.spec.definitions import NOTHING, Definitions
from assay.spec.placeholder import has_placeholder
from assay.spec.source import problem_in

MODEL_FIELDS = ("model_key", "judge_model_key")
"""The settings that name a model."""


def model_keys(loaded: LoadedTask) -> Iterator[str]:
    """Return the models that a task's settings name: judges and simulated users."""
    if loaded.solver is not None:
        yield from _named(loaded.solver.settings)
    for scorer in loaded.scorers:
        yield from _named(scorer.settings)


def model_problems(loaded: LoadedTask, definitions: Definitions = NOTHING) -> Iterator[Problem]:
    """Report every model that a part of the task names but that does not exist; needs no key."""
    parts: list[LoadedScorer | LoadedSolver] = [*loaded.scorers]
    parts += [] if loaded.solver is None else [loaded.solver]
    for part in parts:
        for key in dict.fromkeys(_named(part.settings)):
            for problem in unknown_model(key, loaded, definitions):
                yield (
                    problem
                    if problem.place
                    else problem_in(loaded.document.sources, problem.message, part.place, problem.suggestion)
                )


def unknown_model(key: str, loaded: LoadedTask, definitions: Definitions = NOTHING) -> tuple[Problem, ...]:
    """Report an unknown model name; None if the model exists."""
    if has_placeholder(key):
        return ()
    from assay.models.connect import require_known

    document = loaded.document
    try:
        require_known(key, root=document.root, environment=document.environment, definitions=definitions)
    except SpecError as error:
        return error.problems
    return ()


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            entry = getattr(value, name)
            if name in MODEL_FIELDS and isinstance(entry, str):
                yield str(entry)
            else:
                yield from _named(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _named(entry)
