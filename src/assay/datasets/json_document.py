"""JSON documents that other tools wrote, read with errors that name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from assay.errors import Place, Problem, SpecError


def wrong(path: Path, message: str, line: int = 1) -> SpecError:
    """Build an error located in the file."""
    return SpecError(Problem(message=message, place=Place(str(path), line)))


def as_json(path: Path, text: bytes, *, line: int = 1, wanted: str = "JSON") -> Any:
    """JSON, with an error that names the file where it is none; NaN and Infinity, which some tools write, are null.

    `wanted` says what the file should have been.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        import json

        try:
            return json.loads(text, parse_constant=lambda _: None)
        except UnicodeDecodeError as error:
            raise wrong(path, f"expected {wanted}; these bytes are not text: is this the right file?", line) from error
        except ValueError as error:
            raise wrong(path, f"expected {wanted}; not valid JSON ({error}): is this file whole?", line) from error


def mapping(path: Path, value: Any, expected: str, line: int = 1) -> dict[str, Any]:
    """Return a JSON object, or raise an error that says what was expected."""
    if not isinstance(value, dict):
        raise wrong(path, f"expected {expected} as a JSON object, got {type(value).__name__}", line)
    return value


def dicts(entries: Any) -> list[dict[str, Any]]:
    """The JSON objects of a list; nothing of what is no list."""
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
