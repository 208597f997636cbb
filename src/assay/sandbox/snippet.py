"""A snippet in its worker: compiled once, called per row, with captured prints and errors cut to its own lines.

Only the standard library is used here: the worker loads this file.
"""

from __future__ import annotations

import dataclasses
import errno
import inspect
import io
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from assay.sandbox.shims import ModelOutput, ModelResponse, RawSample, SampleScore, SolverOutput, SolverTrace

MODULE = "__snippet__"
KEPT_PRINT = 4_000
MOST_PRINT = 1_000_000
MOST_RESULT = 16_000_000
MOST_FRAMES = 5
MOST_WORDS = 1_000
_FORBIDDEN = "code may not read or write files, start programs or use the network here"
_CLOSED = "in isolation: process, a call cannot use what was opened while the snippet was loaded"


class PrintedTooMuch(BaseException):
    """Ends a call that prints without limit; `except Exception` does not catch it."""


class Printed(io.TextIOBase):
    """Captured prints: the first part is kept, and the total is limited."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._kept = 0
        self.length = 0

    def write(self, text: str) -> int:
        self.length += len(text)
        if self._kept < KEPT_PRINT:
            part = text[: KEPT_PRINT - self._kept]
            self._parts.append(part)
            self._kept += len(part)
        if self.length > MOST_PRINT:
            raise PrintedTooMuch(f"printed more than {MOST_PRINT:,} characters")
        return len(text)

    def writable(self) -> bool:
        return True

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self._parts)
        if self.length > self._kept:
            text += f"... ({self.length - self._kept:,} more characters)"
        self._parts, self._kept, self.length = [], 0, 0
        return text


def _score_arguments(row: Any) -> tuple[Any, ...]:
    sample, sample_id, answer, trace = row
    output = None if answer is None else SolverOutput(answer, trace)
    return RawSample(sample, sample_id=sample_id), output


class WholeSample(RawSample):
    """A sample among all of a run: its columns, and under `sample` and `solver_output` what a scorer of one gets."""

    def __init__(self, sample: RawSample, output: SolverOutput | None) -> None:
        super().__init__(sample, sample_id=sample["sample_id"])
        object.__setattr__(self, "_both", {"sample": sample, "solver_output": output})

    def __missing__(self, name: str) -> Any:
        both: dict[str, Any] = self._both
        return both[name] if name in both else super().__missing__(name)


def _all_arguments(rows: Any) -> tuple[Any, ...]:
    pairs = [_score_arguments(row) for row in rows]
    return [WholeSample(*pair) for pair in pairs], [output for _, output in pairs]


SHAPES: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "sample": _score_arguments,
    "samples": _all_arguments,
    "scores": lambda rows: ([SampleScore(values, metadata) for values, metadata in rows],),
    "plain": tuple,
    "conversation": _score_arguments,
    "inference": tuple,
}
"""The functions that build a call's arguments from the received data."""


def plain(value: Any) -> Any:
    """Convert a snippet's value to plain data; raise TypeError for anything else."""
    if isinstance(value, SampleScore):
        return {"scores": value.values, "metadata": value.metadata}
    if isinstance(value, SolverOutput):
        output = str(value.output) if isinstance(value.output, ModelOutput) else value.output
        return {"output": output, "trace": value.trace.items}
    if isinstance(value, SolverTrace):
        return value.items
    if isinstance(value, ModelResponse):
        return {"text": value.text, "items": value.items}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} is not plain data (text, numbers, lists, mappings)")


# lone surrogates stay escaped, so that any text survives the pipe
encode = json.JSONEncoder(default=plain, check_circular=True).encode


def encoded(value: Any, printed: Printed) -> str:
    """Encode a call's result as JSON, unless it printed or returned too much."""
    text = encode(value)
    if printed.length > MOST_PRINT:
        raise PrintedTooMuch(f"printed more than {MOST_PRINT:,} characters")
    if len(text) > MOST_RESULT:
        raise ValueError(f"gave more than {MOST_RESULT:,} characters")
    return text


def told(printed: Printed, *, result: str | None = None, error: str = "") -> str:
    """Encode how a call ended, as JSON."""
    head = f"false,{json.dumps(error)}" if result is None else f"true,{result}"
    return f"[{head},{json.dumps(printed.take())}]" if printed.length else f"[{head}]"


class LoadedSnippet:
    """The user's code, loaded; `run` returns one call's result or error as JSON."""

    def __init__(self, program: Mapping[str, Any], printed: Printed, *, confined: bool) -> None:
        self._file = str(program["file"])
        self._first = int(program["line"])
        self._lines = str(program["source"]).splitlines()
        self._name = str(program["function"])
        self.shape = str(program["shape"])
        self.arguments = SHAPES[program["shape"]]
        self._printed = printed
        self._confined = confined
        self._isolated = program.get("isolation") == "process"
        self._runner: Any = None
        self._function: Callable[..., Any] = self._nothing
        self._takes: int | None = None

    def _nothing(self, *arguments: Any) -> Any:
        raise RuntimeError("the snippet is not loaded")

    def load(self) -> str | None:
        """Execute the snippet's module code; return the error, or None."""
        # moved down to its line in the file, so that tracebacks name lines that the user can find
        source = "\n" * (self._first - 1) + "\n".join(self._lines) + "\n"
        # dataclasses and others look a class's module up by its name
        module = sys.modules[MODULE] = ModuleType(MODULE)
        try:
            exec(compile(source, self._file, "exec"), module.__dict__)  # noqa: S102 - what a sandbox is for
            self._function = getattr(module, self._name)
            self._takes = _positional(self._function)
        # whatever the user's code raises is the user's to read
        except BaseException as error:
            return f"{self.described(error)}\n  (while the snippet was loaded)"
        return None

    def call(self, *arguments: Any) -> Any:
        """Call the function; arguments that it does not take are left out."""
        return self._function(*(arguments if self._takes is None else arguments[: self._takes]))

    @property
    def is_async(self) -> bool:
        """Return whether the function is a coroutine."""
        return inspect.iscoroutinefunction(self._function)

    def run(self, row: Any) -> str:
        """One call as JSON: [true, result, printed] or [false, why, printed]."""
        try:
            result = self.call(*self.arguments(row))
            text = encoded(self._awaited(result) if inspect.isawaitable(result) else result, self._printed)
        # the boundary between the user's code and ours: all that it raises is a failure of its row
        except BaseException as error:
            return told(self._printed, error=self.described(error))
        return told(self._printed, result=text)

    def _awaited(self, result: Any) -> Any:
        import asyncio

        async def wait() -> Any:
            return await result

        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(wait())

    def described(self, error: BaseException) -> str:
        """Describe an error with the user's own lines that led to it."""
        try:
            text = str(error)
        except BaseException:
            text = "(its text cannot be read)"
        name = type(error).__name__
        if isinstance(error, MemoryError):
            text = f"{text}; more memory than code may use".lstrip("; ")
        elif isinstance(error, PrintedTooMuch):
            name, text = "", text
        elif isinstance(error, PermissionError) and self._confined:
            text = f"{text} ({_FORBIDDEN})"
        elif isinstance(error, OSError) and error.errno == errno.EBADF and self._isolated:
            text = f"{text} ({_CLOSED})"
        head = f"{name}: {text}" if name and text else name or text
        frames = [
            (frame.f_code.co_name, line)
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_code.co_filename == self._file
        ]
        return "\n".join([head[:MOST_WORDS], *self._frame_lines(frames)])

    def _frame_lines(self, frames: list[tuple[str, int]]) -> list[str]:
        lines: list[str] = []
        for function, line in reversed(frames[-MOST_FRAMES:]):
            lines.append(f"  {self._file}:{line} in {function}")
            place = line - self._first
            if 0 <= place < len(self._lines):
                lines.append(f"    {self._lines[place].strip()}")
        return lines


def _positional(function: Callable[..., Any]) -> int | None:
    """Return the number of positional arguments of the function; None if unlimited."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return sum(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters
    )
