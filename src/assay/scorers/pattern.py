"""Regular expressions on an engine whose time grows only with the text, with a limit on memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from assay.scorers.common import RowFailureError

MEMORY_BYTES = 8 * 2**20
PATTERN_CHARACTERS = 10_000


def checked_pattern(pattern: str) -> str:
    """Return the pattern if RE2 supports it; otherwise raise a ValueError that explains why not."""
    compiled(pattern)
    return pattern


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """Compile the pattern."""
    import re2

    if len(pattern) > PATTERN_CHARACTERS:
        raise ValueError(f"the pattern has {len(pattern):,} characters; the limit is {PATTERN_CHARACTERS:,}")
    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        message = error.args[0] if error.args else error
        reason = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
        hint = "; RE2 has no lookaround and no backreferences" if "(?" in reason or "escape" in reason else ""
        raise ValueError(f"RE2 cannot run the pattern: {reason}{hint}") from error


def matchable(text: str) -> str:
    """The text itself if it can be written as UTF-8, which RE2 works on."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RowFailureError(f"the text is not valid Unicode: {error.reason}") from error
    return text
