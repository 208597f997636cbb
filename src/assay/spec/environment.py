"""`$VAR` and `${VAR}`: whole values that come from the environment or from the project's `.env`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.spec.document import Steps
from assay.spec.walk import changed, relocated

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")


def variable_of(text: str) -> str | None:
    """The variable that a value names, when the value is exactly `$VAR` or `${VAR}`.

    >>> variable_of("${DATA}"), variable_of("$5"), variable_of("costs $X")
    ('DATA', None, None)
    """
    found = _VARIABLE.fullmatch(text)
    return None if found is None else found[1] or found[2]


def environment_of(root: Path) -> Mapping[str, str]:
    """The environment, and below it what the project's `.env` sets."""
    return {**_env_file(root / ".env"), **os.environ}


def _env_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return {}
    found = (_LINE.fullmatch(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {match[1]: _unquoted(match[2]) for match in found if match is not None}


def _unquoted(value: str) -> str:
    for quote in ('"', "'"):
        if value.startswith(quote) and value.find(quote, 1) > 0:
            return value[1 : value.index(quote, 1)]
    return re.split(r"\s+#", value, maxsplit=1)[0]


def with_environment(data: Any, environment: Mapping[str, str]) -> Any:
    """A copy of the data with every `$VAR` that is set replaced by its value."""

    def change(_: Steps, text: str) -> str:
        name = variable_of(text)
        value = environment.get(name) if name is not None else None
        return text if value is None else relocated(value, text)

    return changed(data, change)
