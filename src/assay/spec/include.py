"""`!include` and `$ref`: other files, within the project folder and never in a circle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import Place, Problem, SpecError
from assay.spec.fields import Located
from assay.spec.source import Source, problem_in, read_source

_MOST_TEXT = 64 * 1024 * 1024


class Inclusion:
    """The files that one file draws in, read once each."""

    def __init__(self, first: Source, jail: Path | None) -> None:
        self.sources: dict[str, Source] = {first.file: first}
        self._jail = jail.resolve() if jail is not None else None
        self._read_before: dict[Path, Source] = {}
        self._open = [first]
        self._included = 0

    def text(self, reference: str, place: Place) -> Located:
        """Return the stripped text of a file, with the location of its first line."""
        source = self._read(reference, place)
        text = source.text.strip()
        self._included += len(text)
        if self._included > _MOST_TEXT:
            raise SpecError(self._problem(f"more than {_MOST_TEXT:,} characters are included", place))
        skipped = source.text[: len(source.text) - len(source.text.lstrip())]
        return Located(text, Place(source.file, skipped.count("\n") + 1, 1), literal=True)

    @contextmanager
    def opened(self, reference: str, place: Place) -> Iterator[Source]:
        """Open a file so that its own includes are relative to its folder."""
        source = self._read(reference, place)
        if any(source.path.resolve() == parent.path.resolve() for parent in self._open):
            way = " -> ".join([*(parent.file for parent in self._open), source.file])
            raise SpecError(self._problem(f"$ref refers back to itself: {way}", place))
        self._open.append(source)
        try:
            yield source
        finally:
            self._open.pop()

    def _read(self, reference: str, place: Place) -> Source:
        holder = next((s for s in self._open if s.file == place.file), self._open[-1])
        if not reference.strip():
            raise SpecError(self._problem("expected the path of a file", place))
        path = holder.path.parent / reference
        try:
            inside = self._jail is None or path.resolve().is_relative_to(self._jail)
        except (OSError, RuntimeError, ValueError) as error:
            raise SpecError(self._problem(f'"{reference}" is not a usable path: {error}', place)) from error
        if not inside:
            message = f'"{reference}" is outside the project folder {self._jail}; --allow-outside permits it'
            raise SpecError(self._problem(message, place))
        if path not in self._read_before:
            source = read_source(path)
            self._read_before[path] = self.sources.setdefault(source.file, source)
        return self._read_before[path]

    def _problem(self, message: str, place: Place) -> Problem:
        return problem_in(self.sources, message, place)
