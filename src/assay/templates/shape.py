"""Classify a template without Jinja: fixed text, one column, the reply, or anything else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_NEWLINES = re.compile(r"\r\n|\r|\n")
_TAGS = ("{{", "{%", "{#")
_COLUMN = re.compile(
    r"""\{\{\s*sample\s*
        (?: \.\s*(?P<attribute>[^\W\d]\w*)
          | \[\s*(?: '(?P<single>[^'\\\n]*)' | "(?P<double>[^"\\\n]*)" )\s*\]
        )\s*\}\}""",
    re.VERBOSE,
)
_REPLY = re.compile(
    r"""\{\{\s*solver_output\.output
        (?: (?:\.choices | \[['"]choices['"]\]) \[0\] (?:\.message | \[['"]message['"]\])
            (?:\.content | \[['"]content['"]\])
        )?\s*\}\}""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Constant:
    """Text without any `{{ }}`."""

    text: str


@dataclass(frozen=True, slots=True)
class ColumnLookup:
    """`{{ sample.name }}` and nothing else."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class ReplyLookup:
    """`{{ solver_output.output }}` and nothing else."""


Shape = Constant | ColumnLookup | ReplyLookup | None


def normalized(source: str) -> str:
    """The text as Jinja reads it: newlines are \\n, and one final newline is dropped."""
    text = _NEWLINES.sub("\n", source) if "\r" in source else source
    return text.removesuffix("\n")


@lru_cache(maxsize=4096)
def shape(source: str) -> Shape:
    """The simple shape of a template, None when Jinja has to read it."""
    text = normalized(source)
    if not any(tag in text for tag in _TAGS):
        return Constant(text)
    match = _COLUMN.fullmatch(text)
    if match is not None:
        name = match["attribute"] or match["single"] or match["double"] or ""
        return ColumnLookup(name, text.count("\n", 0, text.index("sample")) + 1)
    return ReplyLookup() if _REPLY.fullmatch(text) else None


def is_constant(template: str) -> bool:
    """Return whether the template produces the same text for every sample.

    >>> is_constant("Paris"), is_constant("{{ sample.city }}")
    (True, False)
    """
    return isinstance(shape(str(template)), Constant)
