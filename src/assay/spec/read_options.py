"""The options for reading the files of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.spec.definitions import NOTHING, Definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Whether variables may be unset, and whether files may be outside the project folder."""

    strict: bool
    allow_outside: bool
    environment: Mapping[str, str] | None = None
    definitions: Definitions = NOTHING
