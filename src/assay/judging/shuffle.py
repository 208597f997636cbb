"""The order in which a judge sees the options: by content, never by who comes first."""

from __future__ import annotations

import hashlib

from assay.judging.criteria import Criterion

_BETWEEN = "\x1f"


def option_order(criterion: Criterion, *, seed: int, item: str, judge: str, repeat: int = 0) -> tuple[int, ...]:
    """Which option is shown at each place; the same for the same seed, submission, criterion and judge.

    >>> from assay.judging.criteria import CriterionOption
    >>> scale = [CriterionOption(label=str(n), value=n / 4) for n in range(5)]
    >>> sorted(option_order(Criterion(requirement="How good?", options=scale), seed=42, item="Hello", judge="a"))
    [0, 1, 2, 3, 4]
    """
    labels = [option.label for option in criterion.choices]
    asked = digest(_BETWEEN.join([criterion.requirement, *labels]))
    fixed = [str(seed), digest(item), asked, judge, str(repeat)]
    places = {place: digest(_BETWEEN.join([*fixed, str(place)])) for place in range(len(labels))}
    return tuple(sorted(places, key=places.__getitem__))


def digest(text: str) -> str:
    """The sha256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
