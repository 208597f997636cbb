"""User code in a task: located, inspected, and run only with permission, in a sandbox that the run owns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.errors import Place, Problem, SpecError
from assay.spec import LoadedScorer, LoadedSolver, LoadedTask
from assay.spec.code import Code, codes_in
from assay.spec.isolation import isolation_note
from assay.spec.source import Source, problem_in

if TYPE_CHECKING:
    from assay.models.connect import Connection
    from assay.sandbox.pool import Sandbox

CALL_S = 30.0
"""The default time limit of one call of user code, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """The options of user code: whether it may run, whether unconfined, and the time limit of a call."""

    allow_code: bool = False
    trust_code: bool = False
    code_timeout: float = CALL_S


NO_CODE = CodeOptions()


def code_in(loaded: LoadedTask) -> list[Code]:
    """Every snippet of a task, in the order of its parts."""
    parts: list[object] = [loaded.evidence]
    if loaded.solver is not None:
        parts.append(loaded.solver.settings)
    for scorer in loaded.scorers:
        parts += [scorer.settings, *(metric.settings for metric in scorer.metrics)]
    return [code for part in parts for code in codes_in(part)]


def code_problems(loaded: LoadedTask) -> Iterator[Problem]:
    """Report visible problems in a task's snippets, at line and column, without running them."""
    sources = loaded.document.sources
    for code in code_in(loaded):
        for problem in code.problems():
            place = problem.place
            if place is not None and code.literal:
                place = _indented(code, place, sources.get(place.file))
            yield problem_in(sources, problem.message, place, problem.suggestion)


def _indented(code: Code, place: Place, source: Source | None) -> Place:
    """Correct a position for the indentation of a block in YAML."""
    if source is None or code.place is None or place.line > len(source.lines):
        return place
    file_line, lines = source.lines[place.line - 1], code.splitlines()
    number = place.line - code.place.line
    code_line = lines[number] if number < len(lines) else ""
    return (
        Place(place.file, place.line, place.column + max(file_line.find(code_line), 0)) if code_line.strip() else place
    )


def isolation_notes(loaded: LoadedTask) -> list[Problem]:
    """For every snippet that is called once per sample: whether the calls share a process, and why."""
    parts: list[Any] = [scorer.settings for scorer in loaded.scorers]
    if loaded.solver is not None:
        parts += [loaded.solver.settings, loaded.solver.settings.postprocessor]
    return [
        problem_in(loaded.document.sources, isolation_note(code, part.isolation), code.place, None)
        for part in parts
        if hasattr(part, "isolation")
        # a postprocessor stands within its solver and has a setting of its own
        for code in codes_in(part)
        if code in vars(part).values()
    ]


def require_permission(loaded: LoadedTask, options: CodeOptions, models: Iterable[Connection] = ()) -> None:
    """Raise a SpecError that lists the locations to read if a task or its model contains code without permission."""
    permit_models(code_in(loaded), models, options)


def permit(codes: list[Code], options: CodeOptions) -> None:
    """Raise a SpecError unless these snippets may run."""
    if not codes or options.trust_code:
        return
    if not options.allow_code:
        raise SpecError(_review(codes))
    from assay.sandbox.linux import unsupported

    reason = unsupported()
    if reason is not None:
        raise SpecError(
            f"this machine cannot confine code: {reason}. --trust-code runs it without a sandbox: "
            "only for code that you would run yourself"
        )


def permit_models(codes: list[Code], connections: Iterable[Connection], options: CodeOptions) -> None:
    """Permit code and code models to run, or raise a SpecError with all locations."""
    with_code = [connection for connection in connections if connection.codes]
    permit([*codes, *(code for connection in with_code for code in connection.codes)], options)
    for connection in with_code:
        client: Any = connection.client
        client.allow(trusted=options.trust_code)


def _review(codes: list[Code]) -> str:
    places = "\n".join(
        f"  {code.place or 'a snippet'}: {code.function}{' (may use the network)' if code.network else ''}"
        for code in codes
    )
    return (
        f"Python code runs only with permission. Read it first:\n{places}\n"
        "then run again with --allow-code (or ASSAY_ALLOW_CODE=1): it runs in a sandbox, without files, "
        "without the environment"
    )


@contextmanager
def sandbox_for(codes: list[Code], options: CodeOptions) -> Iterator[Sandbox | None]:
    """Provide a sandbox for permitted snippets for the duration of the block; None without snippets."""
    if not codes:
        yield None
        return
    permit(codes, options)
    from assay.sandbox.linux import CodeLimits
    from assay.sandbox.pool import Sandbox

    with Sandbox(limits=CodeLimits(call_s=options.code_timeout), trusted=options.trust_code) as sandbox:
        yield sandbox


@contextmanager
def with_sandbox(loaded: LoadedTask, options: CodeOptions) -> Iterator[LoadedTask]:
    """The task with its code bound to a sandbox that lives as long as the block."""
    with sandbox_for(code_in(loaded), options) as sandbox:
        if sandbox is None:
            yield loaded
            return
        solver = loaded.solver
        yield replace(
            loaded,
            scorers=tuple(_bound_scorer(scorer, sandbox) for scorer in loaded.scorers),
            solver=None if solver is None else _bound_solver(solver, sandbox),
        )


def _bound_solver(solver: LoadedSolver, sandbox: Sandbox) -> LoadedSolver:
    after = solver.settings.postprocessor
    if after is None:
        return replace(solver, kind=solver.kind.with_sandbox(sandbox))
    from assay.solvers.postprocess import postprocess

    return replace(solver, kind=solver.kind.with_sandbox(sandbox), fan_out=partial(postprocess, after, sandbox=sandbox))


def _bound_scorer(scorer: LoadedScorer, sandbox: object) -> LoadedScorer:
    metrics = tuple(replace(metric, kind=metric.kind.with_sandbox(sandbox)) for metric in scorer.metrics)
    return replace(scorer, kind=scorer.kind.with_sandbox(sandbox), metrics=metrics)
