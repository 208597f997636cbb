"""Names that the format has and this version lacks: they get a clear answer instead of "unknown"."""

from __future__ import annotations

from typing import Any

from assay.registry import KindTable
from assay.spec.nearest import listing, nearest

_FORMAT: dict[str, frozenset[str]] = {
    "solver": frozenset(
        {
            "single_turn_solver",
            "multi_turn_solver",
            "grouped_single_turn_solver",
            "pass_through_solver",
        }
    ),
    "scorer": frozenset(
        {
            "model_as_a_judge_classifier",
            "model_as_a_judge_scorer",
            "labeler_via_model",
            "rag_checker",
            "rubric",
        }
    ),
    "dataset source": frozenset({"task_result", "inspect_ai"}),
}


def unavailable(sort: str, name: str) -> bool:
    """Return whether the format defines such a name."""
    return name in _FORMAT.get(sort, ())


def offered(shelf: KindTable[Any]) -> list[str]:
    """Return the types that a file may choose from, without those that only explain an alternative."""
    return [name for name in sorted(shelf) if getattr(shelf[name].settings, "is_offered", True)]


def no_such_type(shelf: KindTable[Any], name: str) -> tuple[str, str | None]:
    """Describe an unknown type, with the nearest known name."""
    if unavailable(shelf.sort, name):
        return f'the {shelf.sort} "{name}" is not available in this version', None
    message = f'unknown {shelf.sort} type "{name}"; known: {listing(offered(shelf), most=40)}'
    return message, nearest(name, sorted(shelf))
