"""Detect what a fast JSON parser loses silently: integers beyond 64 bits, and all but the last of duplicate keys."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

LONGEST = 20
"""An integer of 64 bits has at most so many digits."""

_ONLY_DIGITS = bytes(ord("0") if chr(code).isdigit() and code < 128 else ord(" ") for code in range(256))
_LONG_RUN = b"0" * LONGEST
_LONG_INTEGER = re.compile(rf"(?:^|[\s:,\[])-?[0-9]{{{LONGEST},}}\s*(?:[,}}\]]|$)")
_INT64 = range(-(2**63), 2**64)


def may_hold_long_integers(text: bytes) -> bool:
    """Return whether a long run of digits occurs anywhere; scans all bytes at once at almost no cost."""
    return _LONG_RUN in text.translate(_ONLY_DIGITS)


def holds_long_integer(text: str) -> bool:
    """Return whether a JSON text appears to have a number with too many digits outside its strings."""
    return _LONG_INTEGER.search(text) is not None


def exact_integers(text: str) -> Any:
    """The value of a JSON text in which integers beyond 64 bits are text: every digit stays, and it is JSON again.

    >>> exact_integers('{"n": 123456789012345678901, "m": 7}')
    {'n': '123456789012345678901', 'm': 7}
    """
    return json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int | str:
    if len(digits) > LONGEST + 1:
        return digits
    value = int(digits)
    return value if value in _INT64 else digits


def with_exact_integers(lines: list[str], samples: list[dict[str, Any]]) -> tuple[list[str], list[dict[str, Any]]]:
    """Parse lines of JSON again if they contain a number that is too long."""
    if not may_hold_long_integers("\n".join(lines).encode()):
        return lines, samples
    lines, samples = list(lines), list(samples)
    for place, line in enumerate(lines):
        if holds_long_integer(line):
            samples[place] = exact_integers(line)
            lines[place] = orjson.dumps(samples[place]).decode()
    return lines, samples


def may_repeat_keys(text: bytes, value: Any) -> bool:
    """Return whether the value may lack a key of the text, judging by the number of quotes.

    A quote that the text writes as \\u0022 makes it look so too; `repeated_key` reads the text again and knows.
    """
    return text.count(b'"') != orjson.dumps(value).count(b'"')


def repeated_key(text: str) -> str | None:
    """The first key that appears twice in one object of a JSON text, None when none does.

    >>> repeated_key('{"a": {"b": 1, "b": 2}}')
    'b'
    """
    repeated: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            repeated.append(next(name for place, name in enumerate(names) if name in names[:place]))

    # digits as text: a long integer is no error here
    json.loads(text, object_pairs_hook=look, parse_int=str)
    return repeated[0] if repeated else None


def json_ready(value: Any) -> Any:
    """A value of Python whose integers beyond 64 bits are text."""
    if isinstance(value, int) and value not in _INT64:
        return str(value)
    if isinstance(value, dict):
        return {name: json_ready(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(entry) for entry in value]
    return value
