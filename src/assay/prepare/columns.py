"""The columns that a task reads, checked against the data before a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.errors import Problem
from assay.scorers.common import needs_answer, scores_reply
from assay.solvers.builders import LoadTrace
from assay.solvers.conversation import UnreadableError, as_conversation, recorded
from assay.solvers.grouped import GroupedSingleTurnSolver
from assay.solvers.multi_turn import MultiTurnSolver
from assay.solvers.pass_through import PassThroughSolver
from assay.spec import LoadedTask
from assay.spec.fields import ColumnName, Located, Template
from assay.spec.nearest import listing, nearest
from assay.spec.source import problem_in
from assay.spec.walk import instances
from assay.templates import check_syntax, columns_read, has_placeholder, names_read

_READ = (Template, ColumnName)


def column_problems(
    loaded: LoadedTask, rows: Sequence[Mapping[str, Any]], *, answered: bool = False
) -> Iterator[Problem]:
    """A problem for every template that cannot work, or reads a column which none of the rows has.

    When the rows are `answered` already, what the solver would read does not matter.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    sources = loaded.document.sources
    for text, of_solver in _texts(loaded):
        if has_placeholder(text) or (answered and of_solver):
            continue
        wrong = check_syntax(text) if isinstance(text, Template) else None
        if wrong is not None:
            yield problem_in(sources, f"not a template: {wrong}", text.place)
            continue
        yield from _unknown_names(text, loaded)
        # a postprocessor may give its rows any columns: what comes after it is known only then
        if rows and (of_solver or not _has_postprocessor(loaded)):
            names = [use.name for use in columns_read(text)] if isinstance(text, Template) else [str(text)]
            for name in names:
                if name not in columns and name != "sample_id":
                    message = f'the dataset has no column "{name}"; it has {listing(columns)}'
                    yield problem_in(sources, message, text.place, nearest(name, columns))


def action_column_problems(loaded: LoadedTask, rows: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """A problem for every rule of an action that reads a column which none of the rows has."""
    if not rows or _has_postprocessor(loaded):
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    for i, action in enumerate(loaded.task.definition.actions):
        entries = action.filter if isinstance(action.filter, list) else [action.filter]
        for entry in entries:
            rule = {"expression": entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
            expression = rule.get("expression")
            # a rule that asks whether a column is there may name one that is not
            if not isinstance(expression, str) or rule.get("op") in ("exists", "not_exists"):
                continue
            text = expression if "{{" in expression or "{%" in expression else f"{{{{ {expression} }}}}"
            for use in columns_read(text):
                if use.name not in columns and use.name != "sample_id":
                    message = (
                        f'the action reads the column "{use.name}", which no sample has; known: {listing(columns)}'
                    )
                    steps = ("definition", "actions", i, "filter")
                    yield loaded.document.problem(message, steps, nearest(use.name, columns))


_OFFERED = ("sample", "solver_output", "trace", "messages", "model_output", "model_outputs", "input_prompt")
_IN_CONVERSATIONS = (*_OFFERED, "loop_index")


def _unknown_names(text: Located, loaded: LoadedTask) -> Iterator[Problem]:
    """Report every variable that no template ever receives."""
    if not isinstance(text, Template):
        return
    for name in sorted(names_read(text) - set(_IN_CONVERSATIONS)):
        suggestion = nearest(name, _IN_CONVERSATIONS)
        hint = "" if suggestion else "; columns are read as sample." + name
        message = f'unknown template variable "{name}"{hint}'
        yield problem_in(loaded.document.sources, message, text.place, suggestion)


def answer_problems(loaded: LoadedTask) -> Iterator[Problem]:
    """A problem for every scorer that wants an answer in a task where nothing answers."""
    if loaded.solver is not None and isinstance(loaded.solver.settings, GroupedSingleTurnSolver):
        reason = "grouped_single_turn_solver gives several outputs"
        yield from _no_reply_problems(loaded, reason, "{{ (solver_output.output | fromjson)[0] }}")
    if loaded.solver is not None or loaded.task.definition.solver is not None:
        return
    for scorer in loaded.scorers:
        if needs_answer(scorer.settings):
            message = f"{scorer.kind.name} scores the answer, but the task has no solver: add one, or give `value`"
            yield problem_in(loaded.document.sources, message, scorer.place)


def custom_output_problems(loaded: LoadedTask, model: str) -> Iterator[Problem]:
    """Report every scorer of a chat reply whose model has another kind of output."""
    return _no_reply_problems(loaded, f'the model "{model}" has task: custom', "{{ solver_output.output }}")


def _no_reply_problems(loaded: LoadedTask, reason: str, value: str) -> Iterator[Problem]:
    """Report every scorer of a chat reply in a task without one; a postprocessor may supply it."""
    if _has_postprocessor(loaded):
        return
    for scorer in loaded.scorers:
        if scores_reply(scorer.settings):
            message = f'{scorer.kind.name} scores a chat reply, but {reason}: give `value`, such as "{value}"'
            yield problem_in(loaded.document.sources, message, scorer.place)


def trace_problems(loaded: LoadedTask, rows: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """A problem for every column of recorded conversations in which none of the rows can be read."""
    if loaded.solver is None:
        return
    settings = loaded.solver.settings
    columns = [settings.trace_column] if isinstance(settings, PassThroughSolver) else []
    if isinstance(settings, MultiTurnSolver):
        columns = [builder.trace_column for builder in settings.message_builders if isinstance(builder, LoadTrace)]
    read = recorded if isinstance(settings, PassThroughSolver) else as_conversation
    for column in columns:
        wrong: list[tuple[int, str]] = []
        values = [(i, row[column]) for i, row in enumerate(rows, start=1) if row.get(column) is not None]
        for i, value in values:
            try:
                read(value)
            except UnreadableError as error:
                wrong.append((i, str(error)))
        if wrong and len(wrong) == len(values):
            first, detail = wrong[0]
            message = f'none of the first {len(values):,} rows of "{column}" is a trace; row {first}: {detail}'
            yield problem_in(loaded.document.sources, message, column.place)


def absent_problems(loaded: LoadedTask) -> Iterator[Problem]:
    """A problem for what would otherwise be ignored in silence: trials of nothing."""
    live = any(part.kind.asks_model for part in (loaded.solver, *loaded.scorers) if part is not None)
    if loaded.task.definition.trials is not None and not live and not loaded.problems:
        message = "trials ask a model several times, but this task asks none: its answers are recorded"
        yield loaded.document.problem(message, ("definition", "trials"), key=True)


def _has_postprocessor(loaded: LoadedTask) -> bool:
    return loaded.solver is not None and loaded.solver.settings.postprocessor is not None


def _texts(loaded: LoadedTask) -> Iterator[tuple[Located, bool]]:
    """Every template and column name in the settings of a task, and whether it is the solver's."""
    if loaded.solver is not None:
        yield from ((text, True) for text in instances(loaded.solver.settings, _READ))
    for scorer in loaded.scorers:
        for part in (scorer.settings, *(metric.settings for metric in scorer.metrics)):
            yield from ((text, False) for text in instances(part, _READ))
