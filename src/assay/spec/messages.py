"""Descriptions of invalid values."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from assay.spec.nearest import listing, nearest

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "nothing",
}
_COMPARED = {
    "greater_than": (">", "gt"),
    "greater_than_equal": (">=", "ge"),
    "less_than": ("<", "lt"),
    "less_than_equal": ("<=", "le"),
}


def described(value: Any) -> str:
    """Describe a value for a person: text ("abc"), a number (3), a list."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"a number ({value})"
    if isinstance(value, str):
        return f'text ("{value}")' if len(value) <= 40 and "\n" not in value else "text"
    if isinstance(value, datetime.date):
        return f"a date ({value})"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def expected_of(error: Mapping[str, Any]) -> str | None:
    """Describe what a validation error expected; None if its message says more."""
    kind = error["type"]
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind in _COMPARED:
        sign, name = _COMPARED[kind]
        return f"a number {sign} {error['ctx'][name]:g}"
    if kind in ("literal_error", "enum"):
        names = _choices(error)
        return f"one of {listing(names)}" if len(names) > 1 else f'"{names[0]}"' if names else None
    if kind == "string_pattern_mismatch":
        return "letters, digits, _ and - only" if "a-zA-Z0-9_-" in error["ctx"]["pattern"] else None
    return None


def _choices(error: Mapping[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", str(error["ctx"]["expected"]))


def choice_meant(error: Mapping[str, Any]) -> str | None:
    """The nearest of the choices to what was written."""
    if error["type"] not in ("literal_error", "enum") or not isinstance(error["input"], str):
        return None
    return nearest(error["input"], _choices(error))


def message_of(error: Mapping[str, Any]) -> str:
    """The message of an error that has no simple "expected this"."""
    cause = error.get("ctx", {}).get("error")
    if error["type"] in ("value_error", "assertion_error") and cause is not None:
        return str(cause)
    length = error.get("ctx", {})
    if error["type"] in ("too_short", "string_too_short"):
        return f"expected at least {length['min_length']} {_things(error)}"
    if error["type"] in ("too_long", "string_too_long"):
        return f"expected at most {length['max_length']} {_things(error)}"
    message = str(error["msg"])
    return message[:1].lower() + message[1:]


def _things(error: Mapping[str, Any]) -> str:
    return "characters" if error["type"].startswith("string") else "entries"


def quoted(value: Any, text: str | None) -> str | None:
    """Return the fix for a value that YAML converted where text is expected."""
    if text is None or isinstance(value, str | list | dict) or not text.strip():
        return None
    return f'quote it: "{text}"'
