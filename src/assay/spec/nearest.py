"""The nearest known name to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from assay.errors import ArgumentError

_MOST_NAMES = 2_000  # difflib is quadratic: beyond this a suggestion is not worth the wait


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, or None.

    >>> nearest("ground_truht", ["ground_truth", "value"])
    'ground_truth'
    """
    names = list(islice(known, _MOST_NAMES))
    by_lower = {each.lower(): each for each in reversed(names)}
    found = get_close_matches(name[:200].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def nearest_file(name: str, known: Iterable[str]) -> str | None:
    """The file that was probably meant: an ending that is the same makes no two names alike.

    >>> nearest_file("answer.jsonl", ["answers.jsonl"]), nearest_file("nope.jsonl", ["bin.jsonl"])
    ('answers.jsonl', None)
    """
    stem, dot, ending = name.rpartition(".")
    same = {each[: -len(ending) - 1]: each for each in known if dot and each.endswith(f".{ending}")}
    found = nearest(stem, same) if dot and stem else None
    if found is not None:
        return same[found]
    others = {each.partition(".")[0]: each for each in known if each not in same.values()}
    found = nearest(name.partition(".")[0], others)
    return None if found is None else others[found]


def listing(names: Iterable[str], most: int = 20) -> str:
    """Names in a sentence, cut where they would not be read any more."""
    every = list(names)
    shown = ", ".join(every[:most])
    return f"{shown} and {len(every) - most} more" if len(every) > most else shown or "none"


def refuse_unknown_keywords(callee: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise an ArgumentError that names the nearest option for each keyword that a function or class does not have."""
    every = sorted(known)
    unknown = [name for name in names if name not in every]
    if not unknown:
        return
    hints = {name: nearest(name, every) for name in unknown}
    parts = [f'"{name}"' + (f'; did you mean "{near}"?' if near else "") for name, near in hints.items()]
    there = "" if all(hints.values()) else f"; the options are {listing(every, most=len(every))}"
    raise ArgumentError(f"{callee} has no option {', nor '.join(parts)}{there}")
