"""A parsed file: values with their locations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import Place, Problem, SpecError
from assay.spec.source import Source, problem_in

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """The location of a value and of its key, and the original text of a plain value."""

    value: Place
    key: Place | None = None
    written: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A YAML file with everything it includes, and the location of every value.

    `data` holds the values as written: `$VAR` and `<< config.x >>` are still in it.
    """

    path: Path
    root: Path
    data: Any
    positions: Mapping[Steps, Spot]
    sources: Mapping[str, Source]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    notes: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()

    def spot(self, steps: Steps) -> Spot:
        """The spot of a value, or of the nearest thing around it that has one."""
        for cut in range(len(steps), -1, -1):
            spot = self.positions.get(steps[:cut])
            if spot is not None:
                return spot
        return Spot(Place(next(iter(self.sources), str(self.path))))

    def problem(self, message: str, steps: Steps, suggestion: str | None = None, *, key: bool = False) -> Problem:
        """A problem with the value (or the key) at `steps`, with its line."""
        spot = self.spot(steps)
        place = spot.key if key and spot.key is not None else spot.value
        return problem_in(self.sources, message, place, suggestion)

    def folder(self, steps: Steps) -> Path:
        """Return the folder of the file that contains the value, which its relative paths start from."""
        source = self.sources.get(self.spot(steps).value.file)
        return (source.path if source is not None else self.path).parent

    def raise_problems(self) -> None:
        """A SpecError with everything wrong, if anything is."""
        if self.problems:
            raise SpecError(self.problems)
