"""Problems of the input as the JSON that editors and CI read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.errors import Problem


def problem_documents(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """One object a problem: file, line, column, message, suggestion."""
    return [
        {
            "file": problem.place.file if problem.place else None,
            "line": problem.place.line if problem.place else None,
            "column": problem.place.column if problem.place else None,
            "message": problem.message,
            "suggestion": problem.suggestion,
        }
        for problem in problems
    ]
