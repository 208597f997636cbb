"""The pieces that settings are made of: strict frozen models, and text that knows where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from assay.errors import Place
from assay.types import Purpose

Key = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", min_length=1, max_length=250)]


class Located(str):
    """Text from a file that remembers its place, so that a failure at run time can name it.

    `literal` says that its lines are lines of the file (a `|` block, an included file).
    """

    place: Place | None
    literal: bool

    def __new__(cls, text: str, place: Place | None = None, *, literal: bool = False) -> Self:
        made = super().__new__(cls, text)
        made.place = place if place is not None else getattr(text, "place", None)
        made.literal = literal or bool(getattr(text, "literal", False))
        return made

    def at(self, line: int) -> Place | None:
        """The place of a line of this text, counted from 1."""
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


class Settings(BaseModel):
    """The base of everything read from a file: strict, closed, frozen."""

    # building a validator takes milliseconds: each is built when it is first used
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class SolverSpec(Settings):
    """What every solver accepts."""

    type: str
    message_format: str | None = None


class ScorerSpec(Settings):
    """What every scorer accepts; `metrics` is checked entry by entry elsewhere (None = the default)."""

    type: str
    key: Key | None = None
    display_name: str | None = None
    purpose: Purpose = "score"
    metrics: list[Any] | None = None

    def default_metrics(self) -> list[dict[str, Any]]:
        """The metrics of a scorer whose file names none."""
        return []

    def content(self) -> Mapping[str, Any] | None:
        """What decides the scores and may stand in a file of its own, as a run keeps it; None when nothing does."""
        return None

    def content_digest(self) -> str | None:
        """A digest of the same."""
        return None

    def wants_seed(self) -> bool:
        """Does the scorer draw something by a seed that its file leaves open?"""
        return False

    def with_seed(self, seed: int) -> Self:
        """The same scorer with the seed that its file leaves open."""
        return self


class MetricSpec(Settings):
    """What every metric accepts."""

    type: str
    key: Key | None = None
    display_name: str | None = None
    group_by: Template | None = None
    cluster_by: Template | None = None


class SourceSpec(Settings):
    """What every dataset source accepts; `filters` is checked by dataset/filters.py."""

    type: str
    filters: list[Any] | None = None
