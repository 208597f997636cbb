"""The order in which a judge sees the options: determined by content and position, never by timing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from assay.judging.criteria import Criterion

Shuffle = Literal["random", "counterbalanced", "direction", "both_orders"]
"""How the order of options varies between submissions and judges."""
_BETWEEN = "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderKey:
    """The inputs of the order of options: the submission, by text and row, and the judge, by name and rank.

    `repeat` counts how often the judge was asked before.
    """

    item: str
    row: int
    judge: str
    rank: int
    repeat: int = 0


def shown_orders(
    criterion: Criterion, seen: Criterion, shuffle: Shuffle | None, seed: int, key: OrderKey
) -> tuple[tuple[int, ...], ...]:
    """The order in which one judge sees the options, or both orders; `seen` may have an option more, to abstain."""
    if shuffle is None:
        return (tuple(range(len(seen.choices))),)
    if shuffle == "counterbalanced":
        declared = len(criterion.choices)
        return (latin_row(declared, key.row + key.rank + key.repeat) + tuple(range(declared, len(seen.choices))),)
    if shuffle == "direction" and criterion.kind == "ordinal":
        upward = scale_order(seen, seed=seed, row=key.row, judge=key.judge, turns=key.repeat)
        return (upward,)
    order = option_order(seen, seed=seed, item=key.item, judge=key.judge, repeat=key.repeat)
    return (order, order[::-1]) if shuffle == "both_orders" else (order,)


def option_order(criterion: Criterion, *, seed: int, item: str, judge: str, repeat: int = 0) -> tuple[int, ...]:
    """Return the option shown at each position; the same for the same seed, submission, criterion and judge.

    >>> from assay.judging.criteria import CriterionOption
    >>> scale = [CriterionOption(label=str(n), value=n / 4) for n in range(5)]
    >>> sorted(option_order(Criterion(requirement="How good?", options=scale), seed=42, item="Hello", judge="a"))
    [0, 1, 2, 3, 4]
    """
    fixed = [str(seed), digest(item), _asked(criterion), judge, str(repeat)]
    places = {place: digest(_BETWEEN.join([*fixed, str(place)])) for place in range(len(criterion.choices))}
    return tuple(sorted(places, key=places.__getitem__))


def latin_row(size: int, row: int) -> tuple[int, ...]:
    """Return a row of the cyclic Latin square: over `size` rows every option appears once at every position.

    >>> latin_row(3, 0), latin_row(3, 4)
    ((0, 1, 2), (1, 2, 0))
    """
    return tuple((row + place) % size for place in range(size))


def scale_order(criterion: Criterion, *, seed: int, row: int, judge: str, turns: int = 0) -> tuple[int, ...]:
    """Order a scale upward or downward with the abstaining option last; neighbouring rows use both directions.

    Which of the two comes first is drawn, so that rows that alternate for other reasons do not follow the scale.
    A judge that is asked again sees it the other way round: each of the `turns` reverses it.
    """
    options = range(len(criterion.choices))
    upward = sorted((n for n in options if not criterion.choices[n].na), key=lambda n: (criterion.choices[n].value, n))
    drawn = int(digest(_BETWEEN.join([str(seed), _asked(criterion), judge, str(row // 2)])), 16) % 2
    scale = upward if (row + drawn + turns) % 2 == 0 else upward[::-1]
    return (*scale, *(n for n in options if criterion.choices[n].na))


def _asked(criterion: Criterion) -> str:
    return digest(_BETWEEN.join([criterion.requirement, *(option.label for option in criterion.choices)]))


def digest(text: str) -> str:
    """The sha256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
