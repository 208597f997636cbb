"""`<< config.x >>` and `<< secrets.x >>`: replaced when a file is loaded; any other `<< >>` is text."""

from __future__ import annotations

import json
import re
from typing import Any

PLACEHOLDER = re.compile(r"<< (config|secrets)\.([a-zA-Z0-9_-]+) >>")


def has_placeholder(text: str) -> bool:
    """Return whether the text contains a placeholder."""
    return PLACEHOLDER.search(text) is not None


def text_of(value: Any) -> str:
    """A parameter's value inside longer text: booleans are true and false, nothing is empty, lists are JSON.

    >>> text_of(True), text_of(0.5), text_of(["a"])
    ('true', '0.5', '["a"]')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
