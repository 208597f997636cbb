"""The kinds of answers that judges can give: one of several labels, any label, or a number in a range."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from assay.judging.json_extraction import Unreadable

_AROUND = " \t\r\n*_`~#>\"'“”‘’«»()[]{}<"
_AFTER = ".,;:!?"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_OF = re.compile(r"(?P<number>\S+)\s*/\s*(?P<most>\S+)")
_MOST_SHOWN = 80
_MOST_LABEL = 80


def bare(text: str) -> str:
    """A text without the quotes, markup and punctuation around it.

    >>> bare('**"Yes".**')
    'Yes'
    """
    before = None
    while text != before:
        before = text
        text = text.strip(_AROUND).rstrip(_AFTER)
    return text


# from strict to lenient: what an earlier one decides, no later one can change
_LEVELS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    str.strip,
    lambda text: text.strip().casefold(),
    bare,
    lambda text: bare(text).casefold(),
)


class Labels:
    """One of the declared labels, recognised as it is written, then trimmed, in any case, and without decoration."""

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = tuple(str(label) for label in labels)
        self._by_level: list[dict[str, list[str]]] = []
        for even in _LEVELS:
            table: dict[str, list[str]] = {}
            for label in self.labels:
                table.setdefault(even(label), []).append(label)
            self._by_level.append(table)

    def read(self, value: Any) -> str:
        """The declared spelling of a label; raises Unreadable for none, and for more than one."""
        text = plain(value)
        for even, table in zip(_LEVELS, self._by_level, strict=True):
            key = even(text)
            labels = table.get(key, ()) if key else ()
            if len(labels) > 1:
                raise Unreadable(f"{shown(text)} could be any of {listed(labels)}")
            if labels:
                return labels[0]
        raise Unreadable(f"{shown(text)} is none of the labels {listed(self.labels)}")

    def named_in(self, text: str) -> frozenset[str]:
        """Return the labels that occur in a text as whole words."""
        labels: set[str] = set()
        for word in self._words.findall(text.casefold()):
            labels.update(self._by_level[2][word])
        return frozenset(labels)

    @cached_property
    def _words(self) -> re.Pattern[str]:
        """The longest label first: "partly correct" is not "correct"."""
        words = sorted(self._by_level[2], key=len, reverse=True)
        return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(word) for word in words) + r")(?!\w)")


class AnyLabel:
    """Any short text."""

    def read(self, value: Any) -> str:
        """The label; raises Unreadable when it is empty, or so long that it is no label."""
        text = plain(value).strip()
        text = bare(text) or text
        if not text:
            raise Unreadable("the label is empty")
        if len(text) > _MOST_LABEL or "\n" in text:
            raise Unreadable(f"{shown(text)} is too long for a label")
        return text

    def named_in(self, text: str) -> frozenset[str]:
        """Any other text could be another label."""
        return frozenset({text} if text else ())


class Range:
    """A number between two limits; a number outside them is rejected, never clamped."""

    def __init__(self, low: float, high: float) -> None:
        self.low = low
        self.high = high

    def read(self, value: Any) -> float:
        """Parse the number; raise Unreadable for anything else and for a number out of range."""
        number = number_of(value)
        if number is None and isinstance(value, str):
            number = self._of_most(value)
        if number is None:
            raise Unreadable(f"{shown(plain(value))} is not a number")
        if not self.low <= number <= self.high:
            raise Unreadable(f"{number:g} is not between {self.low:g} and {self.high:g}")
        return number

    def named_in(self, text: str) -> frozenset[float]:
        """Return every number in a text."""
        return frozenset(float(digits) for digits in _NUMBER.findall(text))

    def _of_most(self, text: str) -> float | None:
        """Parse `8/10`, where 10 is the highest possible score."""
        parts = _OF.fullmatch(bare(text))
        return number_of(parts["number"]) if parts and number_of(parts["most"]) == self.high else None


def number_of(value: Any) -> float | None:
    """Return a finite number written as a number, else None: true and NaN are not numbers.

    >>> number_of("**0.8**"), number_of(True), number_of("80%")
    (0.8, None, None)
    """
    if isinstance(value, str):
        text = value.strip(_AROUND).rstrip(_AFTER).strip(_AROUND).replace("\N{MINUS SIGN}", "-")
        if len(text) > _MOST_SHOWN or not _NUMBER.fullmatch(text):
            return None
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def plain(value: Any) -> str:
    """Return a single JSON value as text; raise Unreadable for lists and objects."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise Unreadable("the answer must be a single value")
    return storable(value)


def storable(text: str) -> str:
    """A text without halves of surrogate pairs, which JSON can spell and nothing can store.

    >>> storable("\\ud800!")
    '?!'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def shown(text: str, most: int = _MOST_SHOWN) -> str:
    """A text in quotes, cut when it is long.

    >>> shown("abcdef", most=4)
    '"abcd..."'
    """
    return f'"{text}"' if len(text) <= most else f'"{text[:most]}..."'


def listed(labels: Sequence[str]) -> str:
    """Labels in quotes, with commas between them."""
    return ", ".join(f'"{label}"' for label in labels)
