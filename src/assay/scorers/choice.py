"""`string_equals_mcqa`: the reply names the right choice of a multiple-choice question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BeforeValidator, model_validator

from assay.registry import BatchScorerKind, Said, StoredMetadata
from assay.scorers.choice_readers import CONTRADICTION, agreed, read_all, read_letter
from assay.scorers.common import SHARE, STAGE, ReplyScorer, RowFailureError, chat_replies, row_by_row, score_columns
from assay.scorers.disputes import dispute_report, disputed_detail, readings_of_failure, readings_of_score
from assay.scorers.ground_truth import ground_truths
from assay.spec.fields import ColumnName, Template
from assay.templates import has_placeholder, is_constant, lists
from assay.types import Column, Failure, Rows, ScoreColumns


def _template_or_list(choices: Any) -> Any:
    if choices is None or isinstance(choices, str):
        return choices
    if not isinstance(choices, list):
        raise ValueError("expected a list of single characters, or a template that gives one")
    for entry in choices:
        if not isinstance(entry, str):
            raise ValueError(f"{entry!r} is not text: quote it")
    return [Template(entry) for entry in choices]


Texts = Annotated[list[Template] | Template | None, BeforeValidator(_template_or_list)]


class StringEqualsMcqa(ReplyScorer):
    """A multiple-choice answer: by default the reply's first character, compared with the right choice."""

    type: Literal["string_equals_mcqa"]
    ground_truth_choice: Template | None = None
    choices: Texts = None
    ground_truth_choice_field: ColumnName | None = None
    choices_field: ColumnName | None = None
    answer_extraction: Literal["first_character", "letter", "consensus"] = "first_character"
    choice_texts: Texts = None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.ground_truth_choice is None and self.ground_truth_choice_field is None:
            raise ValueError('"ground_truth_choice" is missing: the right choice of each sample')
        if self.choices is None and self.choices_field is None:
            raise ValueError('"choices" is missing: the list of single characters to choose from')
        if self.choice_texts is not None and self.answer_extraction == "first_character":
            raise ValueError('"choice_texts" is read only with answer_extraction "letter" or "consensus"')
        fixed = fixed_choices(self)
        truth = self.ground_truth_choice
        if fixed is not None and truth is not None and _is_fixed(truth) and truth.removesuffix("\n") not in fixed:
            raise ValueError(f'the ground truth "{truth}" is not one of the choices {", ".join(fixed)}')
        return self


def fixed_choices(settings: StringEqualsMcqa) -> tuple[str, ...] | None:
    """The choices where they are the same for every sample; a ValueError where they are none."""
    choices = settings.choices
    if choices is None or not all(map(_is_fixed, [choices] if isinstance(choices, str) else choices)):
        return None
    entries: Any = choices
    if isinstance(choices, str):
        nothing = Rows(positions=[0], ids=["0"], samples=[{}])
        column = lists(choices, nothing, stage=STAGE)
        if column.failures:
            raise ValueError("expected a list of single characters, or a template that gives one")
        entries = column.values[0]
    try:
        return checked_choices(entries)
    except RowFailureError as error:
        raise ValueError(str(error)) from error


def _is_fixed(entry: str) -> bool:
    return is_constant(entry) and not has_placeholder(entry)


def checked_choices(entries: Sequence[Any]) -> tuple[str, ...]:
    """The choices of a sample: different single characters, at least one.

    >>> checked_choices(["A", "B"])
    ('A', 'B')
    """
    choices = tuple(str(entry) if type(entry) is int else entry for entry in entries)
    for choice in choices:
        if not isinstance(choice, str) or len(choice) != 1:
            raise RowFailureError(f"the choice {choice!r} is not a single character")
    if not choices:
        raise RowFailureError("the list of choices is empty")
    if len(set(choices)) < len(choices):
        raise RowFailureError(f"a choice appears twice in {', '.join(choices)}")
    return choices


def string_equals_mcqa(settings: StringEqualsMcqa, rows: Rows) -> ScoreColumns:
    """1.0 where the predicted choice is the right one; a reply that names none of them is INVALID and wrong."""
    answers = chat_replies(settings, rows)
    truths = ground_truths(_template(settings.ground_truth_choice, settings.ground_truth_choice_field), rows)
    choices = _choices(settings, rows)
    if settings.answer_extraction == "first_character":
        return _by_first_character(answers, truths, choices)
    options = Column(values=[None] * len(rows))
    if settings.choice_texts is not None:
        options = lists(settings.choice_texts, rows, stage=STAGE)
    one = _by_consensus if settings.answer_extraction == "consensus" else _by_letter

    def score(answer: str, truth: str, allowed: tuple[str, ...], texts: list[Any] | None) -> dict[str, Any]:
        if truth not in allowed:
            raise _not_a_choice(truth, allowed)
        return one(answer, truth, allowed, _options(allowed, texts))

    return row_by_row(KIND, score, [answers, truths, choices, options])


def _by_first_character(answers: Column, truths: Column, choices: Column) -> ScoreColumns:
    failures = {**choices.failures, **truths.failures, **answers.failures}
    pairs = list(zip(truths.values, choices.values, strict=True))
    for place, (truth, allowed) in enumerate(pairs):
        if place not in failures and truth not in allowed:
            failures[place] = _not_a_choice(truth, allowed).failure
    first = [answer[:1] for answer in answers.values]
    return score_columns(
        KIND,
        {
            "is_correct": [1.0 if a == b else 0.0 for a, b in zip(first, truths.values, strict=True)],
            "completion_validity": [
                "VALID" if allowed and letter in allowed else "INVALID"
                for letter, allowed in zip(first, choices.values, strict=True)
            ],
            "predicted_choice": first,
            "ground_truth_choice": truths.values,
            "choices": choices.values,
        },
        failures,
    )


def _by_letter(answer: str, truth: str, choices: tuple[str, ...], options: Mapping[str, str] | None) -> dict[str, Any]:
    return _scored(read_letter(answer, choices, options) or "", truth, choices)


def _by_consensus(
    answer: str, truth: str, choices: tuple[str, ...], options: Mapping[str, str] | None
) -> dict[str, Any]:
    readings = read_all(answer, choices, options)
    choice = agreed(readings.values())
    if choice == CONTRADICTION:
        raise RowFailureError(disputed_detail(truth, readings))
    return {**_scored(choice or "", truth, choices), "readers": readings, "disputed": False}


def _scored(choice: str, truth: str, choices: tuple[str, ...]) -> dict[str, Any]:
    return {
        "is_correct": 1.0 if choice == truth else 0.0,
        "completion_validity": "VALID" if choice else "INVALID",
        "predicted_choice": choice,
        "ground_truth_choice": truth,
        "choices": choices,
    }


def _not_a_choice(truth: str, choices: Sequence[str]) -> RowFailureError:
    return RowFailureError(f'the ground truth "{truth[:100]}" is not one of the choices {", ".join(choices)}')


def _options(choices: tuple[str, ...], texts: list[Any] | None) -> dict[str, str] | None:
    if texts is None:
        return None
    if len(texts) != len(choices):
        raise RowFailureError(f"{len(texts)} choice_texts for {len(choices)} choices")
    return dict(zip(choices, map(str, texts), strict=True))


def _choices(settings: StringEqualsMcqa, rows: Rows) -> Column:
    """The choices of every row, checked; the same list is checked once."""
    fixed = fixed_choices(settings)
    if fixed is not None:
        return Column(values=[fixed] * len(rows))
    template = settings.choices if settings.choices is not None else _template(None, settings.choices_field)
    column = lists(template, rows, stage=STAGE)
    checked_rows: list[tuple[str, ...] | None] = []
    failures: dict[int, Failure] = dict(column.failures)
    for place, entries in enumerate(column.values):
        checked = None
        if place not in failures:
            try:
                checked = checked_choices(entries)
            except RowFailureError as error:
                failures[place] = error.failure
        checked_rows.append(checked)
    return Column(values=checked_rows, failures=failures)


@lru_cache(maxsize=64)
def _lookup(column: str) -> str:
    return f"{{{{ sample[{orjson.dumps(column).decode()}] }}}}"


def _template(template: Template | None, column: ColumnName | None) -> Template:
    """The template of a field, or of the column that the older field names."""
    if template is not None:
        return template
    name = column if column is not None else ColumnName("")
    return Template(_lookup(str(name)), name.place)


MOST_INVALID = 0.05
"""A larger share of INVALID replies reflects how replies are read rather than the model."""


def invalid_replies(settings: StringEqualsMcqa, metadata: StoredMetadata) -> Mapping[str, Any] | None:
    """Count the replies that name none of the choices, and compute the accuracy among the others."""
    n = invalid = correct = 0
    for score, times in metadata.distinct():
        n += times
        if score["completion_validity"] == "INVALID":
            invalid += times
        elif score["predicted_choice"] == score["ground_truth_choice"]:
            correct += times
    if not n:
        return None
    valid = n - invalid
    counts = {
        "n": invalid,
        "of": n,
        "share": invalid / n,
        "accuracy_among_valid": correct / valid if valid else None,
    }
    if invalid <= MOST_INVALID * n:
        return {"invalid": counts}
    share = f"{invalid / n:.1%} of the replies are INVALID and count as wrong"
    if settings.answer_extraction == "first_character":
        cure = '`answer_extraction: letter` also reads forms such as "The answer is (B)."'
    else:
        cure = f"`answer_extraction: {settings.answer_extraction}` finds no choice in them"
    return {"invalid": counts, "warnings": [f"{share}; {cure}"]}


def disputes(settings: StringEqualsMcqa, rows: Iterable[Said]) -> Mapping[str, Any] | None:
    """The samples on which the readers disagree, and the accuracy if one of them decided; only for `consensus`."""
    if settings.answer_extraction != "consensus":
        return None
    readings = (
        readings_of_score(sample_id, metadata) if metadata is not None else readings_of_failure(sample_id, detail or "")
        for sample_id, metadata, detail in rows
    )
    report = dispute_report(reading for reading in readings if reading is not None)
    return {"disputes": {"n": report.n, "disputed": list(report.disputed), "accuracy": dict(report.accuracy)}}


KIND = BatchScorerKind(
    settings=StringEqualsMcqa,
    score=string_equals_mcqa,
    version=2,
    values=("is_correct",),
    metadata=(
        "completion_validity",
        "predicted_choice",
        "ground_truth_choice",
        "choices",
        "readers",
        "disputed",
    ),
    ranges={"is_correct": SHARE},
    detail=disputes,
    count=invalid_replies,
)
