"""Files as text: read once, within limits, and quoted in errors."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from assay.errors import MissingFile, Place, Problem, SpecError
from assay.spec.nearest import nearest_file

MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Source:
    """A file that was read: where it lies, how errors name it, and its text."""

    path: Path
    file: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def problem(self, message: str, line: int = 1, column: int = 1) -> Problem:
        """A problem at a line and column of this file, both from 1."""
        return problem_in({self.file: self}, message, Place(self.file, line, column))


def shown(path: Path) -> str:
    """Return the path relative to the current folder if it is inside it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def read_source(path: Path) -> Source:
    """Read the text of a file; raise a SpecError that explains a failure."""
    file = shown(path)
    try:
        if path.is_dir():
            raise SpecError(f"{file} is a folder; expected a file")
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            # a device may never end, and a pipe may never begin
            raise SpecError(f"{file} is a device or a pipe; expected a file")
        size = status.st_size
        if size > MOST_BYTES:
            raise SpecError(f"{file} has {size:,} bytes; at most {MOST_BYTES:,} are read")
        content = path.read_bytes()
    except SpecError:
        raise
    except FileNotFoundError:
        raise MissingFile(Problem(message=f"there is no file {file}", suggestion=_sibling(path))) from None
    except (OSError, ValueError) as error:
        raise SpecError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return Source(path, file, _decoded(content, file))


def _decoded(content: bytes, file: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rsplit(b"\n", 1)[-1].decode("utf-8", "replace")) + 1
        message = f"not UTF-8 text (byte 0x{content[error.start]:02x}); save the file as UTF-8"
        raise SpecError(Problem(message=message, place=Place(file, line, column))) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _sibling(path: Path) -> str | None:
    try:
        name = nearest_file(path.name, sorted(p.name for p in path.parent.iterdir() if p.is_file()))
    except (OSError, ValueError):
        return None
    return None if name is None else shown(path.with_name(name))


def problem_in(
    sources: Mapping[str, Source], message: str, place: Place | None, suggestion: str | None = None
) -> Problem:
    """A problem with its line quoted from the files that were read."""
    line = None
    source = sources.get(place.file) if place is not None else None
    if source is not None and place is not None and place.line <= len(source.lines):
        line = source.lines[place.line - 1][:400]
    return Problem(message=message, place=place, suggestion=suggestion, source_line=line)
