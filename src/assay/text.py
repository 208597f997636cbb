"""Numbers and foreign text as a terminal may show them."""

from __future__ import annotations

import unicodedata

UNDEFINED = "undefined"


def clean(text: str, *, width: int | None = None) -> str:
    """Make text safe for a terminal: one line, without control or direction-changing characters.

    >>> clean("a\\x1b[31mb\\nc")
    'a [31mb c'
    """
    if not (text.isascii() and text.isprintable()):
        characters = (" " if unicodedata.category(ch) in ("Cc", "Cf", "Zl", "Zp", "Cs") else ch for ch in text)
        text = "".join(characters)
    if width is not None and len(text) > width:
        return text[: width - 1] + "…"
    return text


def shortened(text: str, width: int) -> str:
    """Make text safe for a terminal and at most `width` wide; longer text loses its middle.

    >>> shortened("answers-of-the-large-model", 14)
    'answers…-model'
    """
    text = clean(text)
    if len(text) <= width:
        return text
    head = width // 2
    return f"{text[:head]}…{text[len(text) - (width - head - 1) :]}"


def counted(n: int, thing: str) -> str:
    """Format a count with its noun in the singular or plural.

    >>> counted(1, "sample"), counted(1200, "row")
    ('1 sample', '1,200 rows')
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def number(value: float | None) -> str:
    """Format a value with as many digits as readers compare.

    >>> number(0.825), number(12.3456), number(1234567.0), number(-1e-9), number(1 + 1e-9), number(None)
    ('0.825', '12.35', '1.235e+06', '0.000', '1.000', 'undefined')
    """
    if value is None:
        return UNDEFINED
    rounded = round(value, 3)
    if abs(rounded) <= 1:
        # adding 0.0 turns -0.0 into 0.0
        return f"{rounded + 0.0:.3f}"
    return f"{value:.4g}"


def duration(seconds: float) -> str:
    """Format a duration for people.

    >>> duration(0.4), duration(75), duration(7300)
    ('under 1 s', '1 min 15 s', '2 h 01 min')
    """
    if seconds < 1:
        return "under 1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
