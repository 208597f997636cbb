"""Plain values in YAML data: `no`, `12:30`, `010` and dates are text, as whoever wrote them meant.

YAML 1.1 reads them as false, 750, 8 and a date. In the settings of a file this is an error where text is wanted; in a
sample nothing says what is wanted, and a changed value would be scored as a wrong answer.
"""

from __future__ import annotations

import re
from typing import Any

TAG = "tag:yaml.org,2002:"
_BOOLEANS = ("true", "false")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?")
_INT64 = range(-(2**63), 2**64)


def is_text_in_data(tag: str, text: str) -> bool:
    """Return whether a plain value of a sample is text, regardless of YAML 1.1's interpretation.

    >>> [is_text_in_data(TAG + "bool", written) for written in ("no", "false")]
    [True, False]
    """
    if tag == TAG + "bool":
        return text.lower() not in _BOOLEANS
    if tag == TAG + "int":
        # more than 64 bits would lose digits on the way to the store
        return _INTEGER.fullmatch(text) is None or len(text) > 21 or int(text) not in _INT64
    if tag == TAG + "float":
        return _FLOAT.fullmatch(text) is None
    return tag == TAG + "timestamp"


def changed_text(text: str, value: Any) -> str | None:
    """The text of a value where it is not as written: `true` is "True", `1.50` is "1.5".

    >>> changed_text("1.50", 1.5), changed_text("3", 3)
    ('1.5', None)
    """
    if value is None or isinstance(value, str) or str(value) == text:
        return None
    return str(value)
