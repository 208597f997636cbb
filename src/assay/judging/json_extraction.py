"""The JSON objects in what a model wrote: in code fences, amid prose, with the usual slips."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

MOST_TEXT = 1_000_000
_MOST_LITERAL = 64 * 1024
_MOST_WORK = 2_000_000
"""Characters looked at in vain before the search ends: hostile text must not stall a run."""
_A_FAILURE = 1_000
"""The cost of one failed parse in addition to its characters: the decoder counts the lines of the preceding text."""
STARTS = re.compile(r"\{\s*[\"']")
_BRACE = re.compile(r"[{}]")

Object = Mapping[str, Any]


class Unreadable(Exception):
    """A reply without a usable verdict; the message names the problem, for the judge and for people."""


def objects_in(text: str) -> list[Object]:
    """Return every complete top-level JSON object in the text, in order.

    Strict JSON comes first; single quotes and trailing commas are read as Python literals. Nothing is evaluated.

    >>> objects_in('Sure: {"a": 1} or rather {\\'a\\': 2,}')
    [{'a': 1}, {'a': 2}]
    """
    if len(text) > MOST_TEXT:
        raise Unreadable(f"the reply is longer than {MOST_TEXT:,} characters")
    objects: list[Object] = []
    work = 0
    start = STARTS.search(text)
    while start is not None and work < _MOST_WORK:
        at = start.start()
        candidate, end = _json_at(text, at)
        if candidate is None:
            work += _A_FAILURE + end - at
            closing = _closing(text, at)
            work += (closing or at + _MOST_LITERAL) - at
            candidate = _literal(text[at:closing]) if closing is not None else None
            end = closing if candidate is not None and closing is not None else end
        if candidate is not None:
            objects.append(candidate)
        start = STARTS.search(text, end)
    return objects


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object with unique names; an object that has two values for one name is rejected."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values and values[name] != value:
            raise Unreadable(f'the object has "{name}" twice, with different values')
        values[name] = value
    return values


# models write line breaks into strings as they are
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique_fields)


def _json_at(text: str, at: int) -> tuple[Object | None, int]:
    """Parse the object that begins here and return its end; None and the position to continue from if there is none."""
    try:
        decoded, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, max(error.pos, at + 1)
    except (ValueError, RecursionError):  # a number of thousands of digits, objects in objects without end
        return None, at + 1
    return decoded, end


def _closing(text: str, at: int) -> int | None:
    """Return the position after the matching closing brace, at most the longest allowed literal away."""
    depth = 0
    for brace in _BRACE.finditer(text, at, at + _MOST_LITERAL):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.end()
    return None


def _literal(text: str) -> Object | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tokenizer has opinions about what judges write
            literal = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return literal if isinstance(literal, dict) and all(isinstance(name, str) for name in literal) else None
