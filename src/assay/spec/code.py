"""Python code in a file: its text with location, and the function that it must define; inspected, never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, ClassVar

from assay.errors import Place, Problem
from assay.spec.located import Located
from assay.spec.nearest import nearest
from assay.spec.placeholder import has_placeholder
from assay.spec.walk import instances


class Code(Located):
    """A snippet; each kind names its function and the accepted numbers of arguments."""

    function: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]] = ()
    least: ClassVar[int] = 1
    only_async: ClassVar[bool] = False
    network: ClassVar[bool] = False

    def problems(self) -> Iterator[Problem]:
        """Return the problems that are visible without running the code."""
        if has_placeholder(self):
            return
        try:
            tree = ast.parse(str(self))
        except SyntaxError as error:
            yield self._problem(f"not Python: {error.msg}", error.lineno or 1, error.offset or 1)
            return
        except (ValueError, RecursionError, MemoryError) as error:
            yield self._problem(f"not Python: {error}", 1, 1)
            return
        yield from self._wrong_function(tree)

    def takes(self, n: int) -> bool:
        """Return whether the function accepts an n-th argument; True if that cannot be determined."""
        try:
            function = _functions(ast.parse(str(self))).get(self.function)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return True
        return function is None or function.args.vararg is not None or _positional(function) >= n

    def _wrong_function(self, tree: ast.Module) -> Iterator[Problem]:
        functions = _functions(tree)
        signature = f"{self.function}({', '.join(self.parameters)})"
        function = functions.get(self.function)
        if function is None:
            if self.function in _other_names(tree):
                return
            suggestion = nearest(self.function, functions)
            line = functions[suggestion].lineno if suggestion else 1
            hint = f"; it has {', '.join(functions)}" if functions else ""
            yield self._problem(f"the snippet has no function {signature}{hint}", line, 1, suggestion and self.function)
            return
        positional = _positional(function)
        required = positional - len(function.args.defaults)
        named = [
            arg for arg, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if not default
        ]
        enough = positional >= self.least or function.args.vararg is not None
        if not enough or required > len(self.parameters) or named:
            yield self._problem(f"expected {signature}", function.lineno, function.col_offset + 1)
        if self.only_async and not isinstance(function, ast.AsyncFunctionDef):
            yield self._problem(f"expected async def {signature}", function.lineno, function.col_offset + 1)

    def _problem(self, message: str, line: int, column: int, suggestion: str | None = None) -> Problem:
        place = self.at(line)
        if place is not None and self.literal:
            place = Place(place.file, place.line, column)
        elif line > 1:
            message = f"{message} (line {line} of the snippet)"
        return Problem(message=message, place=place, suggestion=suggestion)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(tree: ast.Module) -> dict[str, Function]:
    return {node.name: node for node in tree.body if isinstance(node, Function)}


def _positional(function: Function) -> int:
    return len(function.args.posonlyargs) + len(function.args.args)


def _other_names(tree: ast.Module) -> set[str]:
    """Return names bound other than by `def`: assigned, imported, or inside an `if`."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {name.asname or name.name for name in node.names}
        elif isinstance(node, Function) and node not in tree.body:
            bound.add(node.name)
    return bound


class ScoreCode(Code):
    """`compute_scores(sample[, solver_output])`."""

    function = "compute_scores"
    parameters = ("sample", "solver_output")


class AllScoresCode(Code):
    """`compute_scores(samples)`."""

    function = "compute_scores"
    parameters = ("samples", "solver_outputs")


class MetricCode(Code):
    """`compute_metrics(scores)`."""

    function = "compute_metrics"
    parameters = ("scores",)


class InferenceCode(Code):
    """`run_inference(body, environment, sample=None)`."""

    function = "run_inference"
    parameters = ("body", "environment", "sample")
    network = True


class EvidenceCode(Code):
    """`compute_evidence()`."""

    function = "compute_evidence"
    least = 0
    network = True


class PostprocessCode(Code):
    """`postprocess(sample, solver_output)`."""

    function = "postprocess"
    parameters = ("sample", "solver_output")
    least = 2


class SolverCode(Code):
    """`async def run_solver(sample, model, trace)`."""

    function = "run_solver"
    parameters = ("sample", "model", "trace")
    least = 2
    only_async = True


def codes_in(value: Any) -> Iterator[Code]:
    """Every snippet in settings, however deep."""
    return instances(value, Code)
