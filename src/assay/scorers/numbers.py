"""Numbers in text, as people write them: 1,234.5, -3, $18, 5 %, 1e3."""

from __future__ import annotations

import re
from collections import deque
from decimal import Decimal

# a sign counts only where nothing stands before it that it could be taken from ("16-3" holds 16 and 3)
_NUMBER = re.compile(
    r"""(?:(?<![A-Za-z0-9_)\].])(?P<sign>[-+\u2212]))?
        (?:[$\u20ac\u00a3\u00a5]\s?)?
        (?<![A-Za-z0-9_])(?<![0-9]\.)
        (?P<digits>
            (?: [0-9]{1,3}(?:,[0-9]{3})+(?![0-9]) | [0-9]+ ) (?:\.[0-9]+)?
          | (?<!\.)\.[0-9]+
        )
        (?P<exponent>[eE][-+]?[0-9]{1,9}(?![A-Za-z0-9]))?""",
    re.VERBOSE,
)


def last_number(text: str) -> Decimal | None:
    """The last number in a text, None when there is none.

    >>> last_number("She makes 9 * 2 = $18."), last_number("none")
    (Decimal('18'), None)
    """
    last = deque(_NUMBER.finditer(text), maxlen=1)
    if not last:
        return None
    found = last[0]
    sign = "-" if found["sign"] in ("-", "\u2212") else ""
    return Decimal(sign + found["digits"].replace(",", "") + (found["exponent"] or ""))
