"""Numbers in foreign tables and in scores: finite, or none."""

from __future__ import annotations

import math
from typing import Any


def as_number(value: Any) -> float | None:
    """A finite number, booleans as 1 and 0; None for anything else.

    >>> as_number(True), as_number("1"), as_number(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, int | float):
        made = float(value)
        return made if math.isfinite(made) else None
    return None


def number_in(text: str) -> float | None:
    """The finite number that a text is, true and false as 1 and 0; None for any other text.

    >>> number_in(" 0.5 "), number_in("True"), number_in("nan"), number_in("good")
    (0.5, 1.0, None, None)
    """
    word = text.strip().casefold()
    if word in ("true", "false"):
        return float(word == "true")
    try:
        return as_number(float(word))
    except ValueError:
        return None
