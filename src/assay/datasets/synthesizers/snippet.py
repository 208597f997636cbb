"""`python`: rows computed by a user's function, in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec, failed
from assay.registry import BatchSynthesizerKind, InSandbox
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Result
from assay.spec.code import Code
from assay.spec.isolation import Isolation, isolation_of


class SynthesizeCode(Code):
    """`synthesize(source)`."""

    function = "synthesize"
    parameters = ("source",)


class PythonSynthesizer(SynthesizerSpec):
    """Rows from `synthesize(source)`, which returns a list of mappings; their fields are laid over the row."""

    type: Literal["python"]
    synthesize_snippet: SynthesizeCode
    isolation: Isolation | None = None


def from_code(settings: PythonSynthesizer, rows: Sequence[Row], *, sandbox: Sandbox) -> list[SynthesizedRows]:
    """Call the function for each row; a return value of another type is a failure of that row."""
    code = settings.synthesize_snippet
    program = Program.of(code, "plain", isolation=isolation_of(code, settings.isolation))
    results = sandbox.map(program, [[row] for row in rows])
    return [_rows_of(row, result) for row, result in zip(rows, results, strict=True)]


def _rows_of(row: Row, result: Result) -> SynthesizedRows:
    if isinstance(result, CallFailed):
        return failed(result.detail, "code")
    value: Any = result.value
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return failed(f"synthesize must return a list of mappings, not {type(value).__name__}", "code")
    return [{**row, **entry} for entry in value]


KIND = BatchSynthesizerKind(settings=PythonSynthesizer, synthesize=InSandbox(from_code))
