"""The nearest known name to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from assay.errors import ArgumentError

_MOST_NAMES = 2_000  # difflib is quadratic: beyond this a suggestion is not worth the wait


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The known name that was probably meant, or None.

    >>> nearest("ground_truht", ["ground_truth", "value"])
    'ground_truth'
    """
    names = list(islice(candidates, _MOST_NAMES))
    by_lower = {candidate.lower(): candidate for candidate in reversed(names)}
    matches = get_close_matches(name[:200].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[matches[0]] if matches else None


def nearest_file(name: str, candidates: Iterable[str]) -> str | None:
    """The file that was probably meant: an ending that is the same makes no two names alike.

    >>> nearest_file("answer.jsonl", ["answers.jsonl"]), nearest_file("nope.jsonl", ["bin.jsonl"])
    ('answers.jsonl', None)
    """
    stem, dot, ending = name.rpartition(".")
    same = {
        candidate[: -len(ending) - 1]: candidate for candidate in candidates if dot and candidate.endswith(f".{ending}")
    }
    match = nearest(stem, same) if dot and stem else None
    if match is not None:
        return same[match]
    others = {candidate.partition(".")[0]: candidate for candidate in candidates if candidate not in same.values()}
    match = nearest(name.partition(".")[0], others)
    return None if match is None else others[match]


def listing(names: Iterable[str], most: int = 20) -> str:
    """Names in a sentence, cut where they would not be read any more."""
    every = list(names)
    text = ", ".join(every[:most])
    return f"{text} and {len(every) - most} more" if len(every) > most else text or "none"


def refuse_unknown_keywords(callee: str, names: Iterable[str], options: Iterable[str]) -> None:
    """Raise an ArgumentError that names the nearest option for each keyword that a function or class does not have."""
    every = sorted(options)
    unknown = [name for name in names if name not in every]
    if not unknown:
        return
    hints = {name: nearest(name, every) for name in unknown}
    parts = [
        f'"{name}"' + (f'; did you mean "{suggestion}"?' if suggestion else "") for name, suggestion in hints.items()
    ]
    choices = "" if all(hints.values()) else f"; the options are {listing(every, most=len(every))}"
    raise ArgumentError(f"{callee} has no option {', nor '.join(parts)}{choices}")
