"""Parse numbers in text as people write them: 1,234.5, -3, $18, 5 %, 1e3, 3/4, 10^5."""

from __future__ import annotations

import re
from collections import deque
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

Number = Decimal | Fraction
"""A decimal; a fraction where no decimal is exact, such as 1/3."""

LARGEST_POWER = 5_000
"""Powers with more digits than this are not computed."""

# a reply may hold a number of any size: its difference must not overflow
_WIDE = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])

# a sign counts only where nothing stands before it that it could be taken from ("16-3" holds 16 and 3)
_SIGN = r"(?:(?<![A-Za-z0-9_)\].])(?P<sign>[-+\u2212]))?"
_NUMBER = re.compile(
    rf"""{_SIGN}
        (?:[$\u20ac\u00a3\u00a5]\s?)?
        (?<![A-Za-z0-9_])(?<![0-9]\.)
        (?P<digits>
            (?: [0-9]{{1,3}}(?:,[0-9]{{3}})+(?![0-9]) | [0-9]+ ) (?:\.[0-9]+)?
          | (?<!\.)\.[0-9]+
        )
        (?P<exponent>[eE][-+]?[0-9]{{1,9}}(?![A-Za-z0-9]))?""",
    re.VERBOSE,
)
# the groups are bounded: a list of thousands of them would be read again from each of its commas
_PLAIN = r"[0-9]{1,3}(?:,[0-9]{3}){1,20}(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FRACTION = re.compile(
    rf"""{_SIGN}(?<![A-Za-z0-9_./^:])
        (?:(?P<whole>[0-9]+)\ )?
        (?:(?P<above>{_PLAIN})\s?[/\u2044]\s?(?P<below>{_PLAIN})(?![A-Za-z0-9_/^]|\.[0-9])
          |\\[dt]?frac\s?\{{\s?(?P<over>{_PLAIN})\s?\}}\s?\{{\s?(?P<under>{_PLAIN})\s?\}})""",
    re.VERBOSE,
)
_POWER = re.compile(
    rf"""{_SIGN}(?<![A-Za-z0-9_./^:])
        (?:(?P<factor>{_PLAIN})\s?(?:[x\u00d7*\u00b7]|\\times|\\cdot)\s?(?=10[\s^*\u2070\u00b9\u00b2\u00b3\u2074-\u207b]))?
        (?P<base>{_PLAIN})
        (?:\s?(?:\^|\*\*)\s?[({{]?(?P<exponent>[-\u2212]?[0-9]{{1,9}})[)}}]?(?![A-Za-z0-9_^])
          |(?P<raised>\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{{1,9}}))""",
    re.VERBOSE,
)
# looking for a character is far cheaper than looking for a pattern
_MARKS = ("/", "^", "**", "frac", "\u2044", *"⁰¹²³⁴⁵⁶⁷⁸⁹")
_TIME = re.compile(r"[0-9]:[0-9]{2}")
_RANGE = re.compile(
    r"[0-9]%?\s*(?:[-\u2010-\u2015\u2212~]|\.\.+|\bto\b|\bor\b)\s*[$\u20ac\u00a3]?\s*[0-9]|\bbetween\b", re.I
)
_LOOSE_DIGIT = re.compile(r"(?<![A-Za-z0-9_])[0-9]|(?<=\.)[0-9]")
_SYMBOL = re.compile(
    r"[<>\u2264\u2265\u00b1\u221a\u221b\u03c0^\u00bc-\u00be\u2150-\u215e⁰¹²³⁴⁵⁶⁷⁸⁹⁻]|\\(?:sqrt|pi|pm|le|ge)\b|0[xX][0-9a-fA-F]"
)


def last_number(text: str) -> Number | None:
    """Return the last number in a text, or None without one.

    >>> last_number("She makes 9 * 2 = $18."), last_number("so 3/4"), last_number("none")
    (Decimal('18'), Decimal('0.75'), None)
    """
    last = deque(_NUMBER.finditer(text), maxlen=1)
    spelled = _last_written(text)
    if spelled is not None and (not last or spelled.end() >= last[0].end()):
        return _value(spelled)
    return _decimal(last[0]) if last else None


def one_number(text: str) -> Number:
    """Return the only number in a ground truth; a ValueError explains why there is not exactly one.

    Words and units may stand around it. Of a worked solution that ends in `#### 18`, as in GSM8K, the end counts.

    >>> one_number("$1,018"), one_number("3/4"), one_number("10^5")
    (Decimal('1018'), Decimal('0.75'), Decimal('100000'))
    """
    text = text.rsplit("####", 1)[-1]
    spelled = _last_written(text)
    match = spelled if spelled is not None else _NUMBER.search(text)
    if match is None:
        raise ValueError("holds no number")
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    if _LOOSE_DIGIT.search(rest):
        if _TIME.search(text):
            raise ValueError("is a time, not one number")
        if _RANGE.search(text):
            raise ValueError("is a range, not one number")
        raise ValueError("contains more than one number")
    symbol = _SYMBOL.search(rest)
    if symbol is not None:
        raise ValueError(f'is not one number: "{symbol[0]}" stands beside it')
    value = _decimal(match) if spelled is None else _value(match)
    if value is None:
        raise ValueError("is too large to compute, or divides by zero")
    return value


def close(expected: Number, actual: Number, tolerance: Decimal) -> bool:
    """Return whether two numbers differ by at most the tolerance."""
    if isinstance(expected, Decimal) and isinstance(actual, Decimal):
        return expected == actual or _WIDE.subtract(expected, actual).copy_abs() <= tolerance
    one, two = _as_fraction(expected), _as_fraction(actual)
    return one is not None and two is not None and abs(one - two) <= Fraction(tolerance)


def _last_written(text: str) -> re.Match[str] | None:
    """The last fraction or power in a text."""
    if not any(mark in text for mark in _MARKS):
        return None
    matches = [*deque(_FRACTION.finditer(text), maxlen=1), *deque(_POWER.finditer(text), maxlen=1)]
    return max(matches, key=lambda match: match.end(), default=None)


def _decimal(match: re.Match[str]) -> Decimal:
    sign = "-" if match["sign"] in ("-", "\u2212") else ""
    return Decimal(sign + match["digits"].replace(",", "") + (match["exponent"] or ""))


def _value(match: re.Match[str]) -> Number | None:
    """The value of a fraction or a power; None where it has none that can be computed."""
    value = _power(match) if match.re is _POWER else _fraction(match)
    if value is None:
        return None
    if match["sign"] in ("-", "\u2212"):
        value = -value
    return _simplest(value)


def _fraction(match: re.Match[str]) -> Fraction | None:
    above, below = (_plain(match[one] or match[other]) for one, other in (("above", "over"), ("below", "under")))
    if below == 0:
        return None
    value = above / below
    if match["whole"] is None:
        return value
    # "1 3/4" is a mixed number; in "2 5/3" the two numbers have nothing to do with each other
    return Fraction(int(match["whole"])) + value if value < 1 else value


def _power(match: re.Match[str]) -> Fraction | None:
    digits = match["exponent"] or match["raised"].translate(_SUPERSCRIPTS)
    exponent = int(digits.replace("\u2212", "-"))
    base = _plain(match["base"])
    if abs(exponent) * len(match["base"]) > LARGEST_POWER or (base == 0 and exponent < 0):
        return None
    factor = Fraction(1) if match["factor"] is None else _plain(match["factor"])
    return factor * base**exponent


def _plain(digits: str) -> Fraction:
    return Fraction(digits.replace(",", ""))


def _simplest(value: Fraction) -> Number:
    """A decimal where one is exact."""
    below, places = value.denominator, 0
    for prime in (2, 5):
        times = 0
        while below % prime == 0:
            below //= prime
            times += 1
        places = max(places, times)
    if below != 1:
        return value
    scaled = value.numerator * 10**places // value.denominator
    return Decimal((0 if scaled >= 0 else 1, tuple(map(int, str(abs(scaled)))), -places))


def _as_fraction(value: Number) -> Fraction | None:
    """Return the number as a fraction; None if writing it out would need too much memory."""
    if isinstance(value, Decimal):
        if abs(value.adjusted()) > LARGEST_POWER:
            return None
        return Fraction(value)
    return value
