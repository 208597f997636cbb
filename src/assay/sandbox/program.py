"""The parent's description of a snippet, and the outcomes of its calls."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.spec.code import Code
from assay.spec.isolation import Isolation

Shape = Literal["sample", "samples", "scores", "plain", "conversation", "inference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The source of a snippet, the function to call, and how its arguments are built.

    `file` and `line` say where the source stands, so that errors point there. `isolation` says whether calls share a
    process.
    """

    source: str
    function: str
    shape: Shape
    file: str = "<snippet>"
    line: int = 1
    network: bool = False
    isolation: Isolation = "batch"

    @classmethod
    def of(cls, code: Code, shape: Shape, *, network: bool = False, isolation: Isolation = "batch") -> Program:
        """The program of a snippet in a file."""
        place = code.place
        file, line = "<snippet>", 1
        if place is not None:
            file, line = (place.file, place.line) if code.literal else (f"{place} (the snippet there)", 1)
        return cls(
            source=str(code),
            function=code.function,
            shape=shape,
            file=file,
            line=line,
            network=network,
            isolation=isolation,
        )

    def document(self) -> dict[str, Any]:
        """The program as it crosses the pipe."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Returned:
    """A call that came to its end, with what it printed."""

    value: Any
    printed: str = ""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A failed call, described so that the user can act on it."""

    detail: str


Result = Returned | CallFailed
