"""The building blocks of settings: strict frozen models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from assay.spec.code import PostprocessCode
from assay.spec.isolation import Isolation
from assay.spec.located import ColumnName, Located, Template
from assay.types import Purpose

__all__ = [
    "ColumnName",
    "Key",
    "Located",
    "MetricSpec",
    "Postprocessor",
    "ScorerSpec",
    "Settings",
    "SolverSpec",
    "SourceSpec",
    "Template",
]

Key = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$", min_length=1, max_length=250)]


class Settings(BaseModel):
    """The base of everything read from a file: strict, closed, frozen."""

    # building a validator takes milliseconds: each is built when it is first used
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class Postprocessor(Settings):
    """A function of the user's that makes several rows, or others, of a sample and its answer."""

    type: Literal["python"]
    postprocess_snippet: PostprocessCode
    isolation: Isolation | None = None


class SolverSpec(Settings):
    """The settings that every solver accepts."""

    kind_sort: ClassVar[str] = "solver"
    type: str
    message_format: str | None = None
    postprocessor: Postprocessor | None = None

    @property
    def asks_evaluated_model(self) -> bool:
        """Return whether an asking solver calls the evaluated model."""
        return True


class ScorerSpec(Settings):
    """The settings that every scorer accepts; `metrics` is checked entry by entry elsewhere (None: the default)."""

    kind_sort: ClassVar[str] = "scorer"
    type: str
    key: Key | None = None
    display_name: str | None = None
    purpose: Purpose = "score"
    metrics: list[Any] | None = None

    def default_metrics(self) -> list[dict[str, Any]]:
        """The metrics of a scorer whose file names none."""
        return []

    def score_ranges(self) -> Mapping[str, tuple[float, float]]:
        """The least and the greatest value of fields that follow from these settings, beside those of the kind."""
        return {}

    def score_fields(self) -> tuple[str, ...] | None:
        """Return the score fields that follow from these settings; None if the kind declares them or if unknown."""
        return None

    def content(self) -> Mapping[str, Any] | None:
        """Return the external content that determines the scores, as stored with a run; None without any."""
        return None

    def content_digest(self) -> str | None:
        """A digest of the same."""
        return None

    def plan_notes(self) -> tuple[str, ...]:
        """Return notes for plans about this scorer's calls."""
        return ()

    def wants_seed(self) -> bool:
        """Return whether the scorer draws at random with a seed that its file leaves open."""
        return False

    def with_seed(self, seed: int) -> Self:
        """This scorer with the seed that its file leaves open."""
        return self


class MetricSpec(Settings):
    """The settings that every metric accepts."""

    kind_sort: ClassVar[str] = "metric"
    type: str
    key: Key | None = None
    display_name: str | None = None
    group_by: Template | None = None
    cluster_by: Template | None = None


class SourceSpec(Settings):
    """The settings that every dataset source accepts; `filters` is checked by datasets/filters.py."""

    kind_sort: ClassVar[str] = "dataset source"
    is_offered: ClassVar[bool] = True
    """Return whether error messages list it among the available sources."""
    type: str
    filters: list[Any] | None = None
    id_column: ColumnName | None = None
