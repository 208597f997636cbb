"""Numbers in foreign tables and in scores: finite, or none."""

from __future__ import annotations

from assay.metrics.columns import as_number

__all__ = ["as_number", "number_in"]


def number_in(text: str) -> float | None:
    """Parse a finite number, with true and false as 1 and 0; None for any other text.

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
