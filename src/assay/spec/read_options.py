"""How the files of a project are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.spec.definitions import NOTHING, Definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: with or without unset variables, inside the project folder or not."""

    strict: bool
    allow_outside: bool
    environment: Mapping[str, str] | None = None
    definitions: Definitions = NOTHING
