"""Shared parts of scorers: the scored text, failures of single rows, and the default metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assay.errors import SpecError
from assay.registry import ScorerKind
from assay.scorers.ground_truth import present_texts
from assay.spec.fields import ScorerSpec, Template
from assay.types import Column, Failure, FailureKind, Rows, Score, ScoreColumns

SHARE = (0.0, 1.0)
STAGE = "score"


class ReplyScorer(ScorerSpec):
    """A scorer that looks at the model's reply."""

    def default_metrics(self) -> list[dict[str, Any]]:
        """The share of correct samples."""
        return [{"type": "mean", "field": "is_correct", "name": "accuracy"}]


class TextScorer(ReplyScorer):
    """A scorer of the reply's text, or of `value` in its stead."""

    value: Template | None = None


class RowFailureError(Exception):
    """One row cannot be scored; it becomes a failure, and the others continue."""

    def __init__(self, detail: str, kind: FailureKind = "parse") -> None:
        self.failure = Failure(stage=STAGE, kind=kind, detail=detail)
        super().__init__(detail)


def needs_answer(settings: ScorerSpec) -> bool:
    """Return whether the scorer only works in a task whose solver produces a reply."""
    return isinstance(settings, ReplyScorer) and getattr(settings, "value", None) is None


def replies(settings: ScorerSpec, rows: Rows) -> list[str]:
    """The replies of a batch; a task without a solver has none, which is an error of the file."""
    if rows.answers is None:
        raise SpecError(
            f"{settings.type} looks at the model's reply, but the task has no solver whose output is a reply: "
            "add a solver, or name what to look at"
        )
    return rows.answers if isinstance(rows.answers, list) else list(rows.answers)


def scores_reply(settings: ScorerSpec) -> bool:
    """Return whether the scorer uses the text of the chat reply because it has no `value`."""
    is_textual = isinstance(settings, TextScorer) or settings.type == "string_equals_mcqa"
    return is_textual and needs_answer(settings)


def chat_replies(settings: ScorerSpec, rows: Rows) -> Column:
    """The replies of a batch; the answers to several inputs at once are no reply, and fail their rows."""
    failures: dict[int, Failure] = {}
    answers = replies(settings, rows)
    for i, trace in enumerate(rows.traces or ()):
        # the grouped solver marks every item with its input, and its answer is the JSON text of all of them
        if trace.items and "input" in trace.items[-1] and answers[i][:1] in ("[", "{"):
            detail = f"{settings.type} scores a chat reply, but the answer holds several outputs: give `value`"
            failures[i] = Failure(stage=STAGE, kind="parse", detail=detail)
    return Column(values=answers, failures=failures)


def looked_at(settings: TextScorer, rows: Rows) -> Column:
    """Return the scored text: `value` if the file has one, else the reply."""
    if settings.value is None:
        return chat_replies(settings, rows)
    # an empty text is an answer like any other, but null is none
    return present_texts(settings.value, rows, "value", allow_empty=True)


def score_columns(kind: ScorerKind, columns: Mapping[str, list[Any]], failures: Mapping[int, Failure]) -> ScoreColumns:
    """The columns of a batch as the kind declares them, with nothing in them where a row failed."""
    _check_declared(kind, columns)
    return ScoreColumns(
        values={name: _without(columns[name], failures) for name in kind.values or () if name in columns},
        metadata={name: _without(columns[name], failures) for name in kind.metadata if name in columns},
        failures=dict(sorted(failures.items())),
    )


def score_of(kind: ScorerKind, fields: Mapping[str, Any]) -> Score:
    """The score of one sample, its fields split into values and metadata as the kind declares them."""
    _check_declared(kind, fields)
    return Score(
        scorer=kind.name,
        values={name: fields[name] for name in kind.values or () if name in fields},
        metadata={name: fields[name] for name in kind.metadata if name in fields},
    )


def _check_declared(kind: ScorerKind, fields: Iterable[str]) -> None:
    """A field that the kind does not declare would be dropped without a word: the scorer's file is wrong."""
    undeclared = [name for name in fields if name not in (kind.values or ()) and name not in kind.metadata]
    assert not undeclared, f"{kind.name} gives {', '.join(undeclared)}, which its kind does not declare"


def _without(column: list[Any], failures: Mapping[int, Failure]) -> list[Any]:
    if not failures:
        return column
    return [None if place in failures else value for place, value in enumerate(column)]


def row_by_row(kind: ScorerKind, one: Callable[..., Mapping[str, Any]], columns: Sequence[Column]) -> ScoreColumns:
    """Score each row separately: `one` takes the row's column values and returns the fields that the kind declares."""
    # reversed, so that of several failures of a row that of the first column is kept
    failures = {place: failure for column in reversed(columns) for place, failure in column.failures.items()}
    rows: list[Mapping[str, Any]] = []
    for place, arguments in enumerate(zip(*(column.values for column in columns), strict=True)):
        fields: Mapping[str, Any] = {}
        if place not in failures:
            try:
                fields = one(*arguments)
            except RowFailureError as error:
                failures[place] = error.failure
        rows.append(fields)
    # the first row stands for all: looking at every row would cost as much as scoring it
    _check_declared(kind, next(filter(None, rows), {}))
    return ScoreColumns(
        values={name: [fields.get(name) for fields in rows] for name in kind.values or ()},
        metadata={name: [fields.get(name) for fields in rows] for name in kind.metadata},
        failures=dict(sorted(failures.items())),
    )
