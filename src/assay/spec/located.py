"""Text that knows its location."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from assay.errors import Place


class Located(str):
    """Text from a file with its location, so that a runtime failure can point to it.

    `literal` says that its lines are lines of the file (a `|` block, an included file).
    """

    place: Place | None
    literal: bool

    def __new__(cls, text: str, place: Place | None = None, *, literal: bool = False) -> Self:
        located = super().__new__(cls, text)
        located.place = place if place is not None else getattr(text, "place", None)
        located.literal = literal or bool(getattr(text, "literal", False))
        return located

    def at(self, line: int) -> Place | None:
        """Return the location of a line of this text, counted from 1."""
        if self.place is None or not self.literal:
            return self.place
        return Place(self.place.file, self.place.line + line - 1, self.place.column)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def keep(value: Any, validate: Callable[[Any], str]) -> Located:
            validate(value)
            return cls(value)

        return core_schema.no_info_wrap_validator_function(keep, core_schema.str_schema(strict=True))


class Template(Located):
    """Text with `{{ ... }}` in it, rendered for each sample; checked against the dataset's columns."""


class ColumnName(Located):
    """The plain name of a dataset's column."""
