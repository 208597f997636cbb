"""All exceptions that assay raises on purpose.

AssayError                  something a person can act on; the command line prints it, never a traceback
├── SpecError               a file, flag or argument is wrong: fix it and run again (exit code 2)
│   ├── MissingFile         a file that was named does not exist
│   ├── MissingExtra        an optional part is not installed; the message holds the command
│   └── NotGenerated        a dataset must be generated first
├── RunError                the run could not go on; what was finished is kept (exit code 3)
│   ├── StoreError          the store cannot be opened, read or written
│   │   └── StoreUnreachable the connection to the database of the store failed or was lost
│   └── TemplateFailure     a template gave no result for one sample; others go on
└── Interrupted             stopped by the user; the same command goes on from here (exit code 130)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A spot in a file; lines and columns start at 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in the input: where, what was expected, and the nearest right name."""

    message: str
    place: Place | None = None
    suggestion: str | None = None
    source_line: str | None = None

    def __str__(self) -> str:
        hint = f'; did you mean "{self.suggestion}"?' if self.suggestion else ""
        if self.place is None:
            return f"{self.message}{hint}"
        head = f"{self.place}: {self.message}{hint}"
        if self.source_line is None:
            return head
        line = self.source_line.replace("\t", " ")
        gutter = f"{self.place.line:>5} | "
        caret = " " * (len(gutter) - 2) + "| " + " " * (self.place.column - 1) + "^"
        return f"{head}\n{gutter}{line}\n{caret}"


class AssayError(Exception):
    """The root of everything assay raises on purpose."""

    exit_code = 3


class SpecError(AssayError, ValueError):
    """The input is wrong; all that is wrong with it comes at once."""

    exit_code = 2

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(message=problems)
        if isinstance(problems, Problem):
            problems = [problems]
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ArgumentError(SpecError, TypeError):
    """A public function was called with a name or a value that it does not take; nothing was read or paid."""


class MissingFile(SpecError, FileNotFoundError):
    """A file that was named does not exist."""


class MissingExtra(SpecError):
    """An optional part of assay is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        self.extra = extra
        super().__init__(f"{needed_for} needs an optional part: pip install 'assay[{extra}]'")


class NotGenerated(SpecError):
    """The rows of a generated dataset do not exist yet."""


class RunError(AssayError):
    """The run could not continue; finished work is kept."""


class StoreError(RunError):
    """The store cannot be opened, read or written."""


class StoreUnreachable(StoreError):
    """The connection to the database failed or was lost; `temporary` when it may work again by itself."""

    def __init__(self, message: str, *, temporary: bool = True) -> None:
        self.temporary = temporary
        super().__init__(message)


class RejectedValue(StoreError):
    """The store works but rejects a value: too long, too large or not text."""


class TemplateFailure(RunError):
    """A template failed for one sample; `missing` if a column that it reads does not exist."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        self.missing = missing
        super().__init__(message)


class Interrupted(AssayError):
    """Stopped by the user; running the same command again resumes."""

    exit_code = 130
