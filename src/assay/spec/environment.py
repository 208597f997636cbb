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
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")


def variable_of(text: str) -> str | None:
    """The variable that a value names, when the value is exactly `$VAR` or `${VAR}`.

    >>> variable_of("${DATA}"), variable_of("$5"), variable_of("costs $X")
    ('DATA', None, None)
    """
    match = _VARIABLE.fullmatch(text)
    return None if match is None else match[1] or match[2]


def looks_secret(name: str) -> bool:
    """Return whether a variable's name suggests a secret.

    >>> looks_secret("OPENAI_API_KEY"), looks_secret("TONE")
    (True, False)
    """
    return _SECRET.search(name) is not None


class Environment(dict[str, str]):
    """Environment variables and the `.env` file; with `keyless`, secrets may be unset."""

    def __init__(self, variables: Mapping[str, str], env_file: Path, *, keyless: bool = False) -> None:
        super().__init__(variables)
        self.env_file = env_file
        self.keyless = keyless


def environment_of(root: Path) -> Environment:
    """The environment, and below it what the project's `.env` sets; an empty variable hides nothing."""
    env_file = root / ".env"
    file_values = _env_file(env_file)
    # an empty variable is how shells and CI systems pass on one that nobody set
    return Environment(
        {**file_values, **{name: value for name, value in os.environ.items() if value or name not in file_values}},
        env_file,
    )


def unset_variable(name: str, environment: Mapping[str, str], file: Path) -> str:
    """Describe an unset variable that `file` names, with the `.env` that was read.

    >>> unset_variable("KEY", {}, Path("model.yaml"))
    'the environment variable KEY is not set'
    """
    message = f"the environment variable {name} is not set"
    if not isinstance(environment, Environment):
        return message
    read, neighbour = environment.env_file, Path(os.path.abspath(file)).parent / ".env"  # noqa: PTH100 - links are kept
    if neighbour == read or not neighbour.is_file():
        return f"{message}, nor is it in {read}" + ("" if read.is_file() else ", which does not exist")
    return f"{message}; {neighbour} is not read: only the .env of the project folder is, {read}"


def _env_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return {}
    matches = (_LINE.fullmatch(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {match[1]: _unquoted(match[2]) for match in matches if match is not None}


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
