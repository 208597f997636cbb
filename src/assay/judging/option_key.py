"""The rule for which labels are the same option."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

LONGEST = 400
"""Numbers with more digits are compared as text: writing them out would take as much memory as they claim."""


def option_key(label: str) -> str:
    """Return a key that is equal for labels of the same option: labels that match without case or as equal numbers.

    >>> option_key(" Yes") == option_key("YES"), option_key("1") == option_key("1.0"), option_key("1a")
    (True, True, '1a')
    """
    text = label.strip().casefold()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    # Decimal keeps large integers apart that one float would merge; adding 0 turns -0 into 0.
    return f"{(number + 0).normalize():f}" if number.is_finite() and abs(number.adjusted()) < LONGEST else text
