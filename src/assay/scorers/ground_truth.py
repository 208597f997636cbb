"""The ground truth of a sample: a missing ground truth is a failure, never a wrong answer."""

from __future__ import annotations

from typing import Any

from assay.spec.fields import Template
from assay.templates import as_texts, columns_read, is_constant, values
from assay.templates.shape import shape
from assay.types import Column, Failure, Rows

_STAGE = "score"


def ground_truths(template: Template, rows: Rows, *, allow_empty: bool = False) -> Column:
    """Return the ground truth of every row as text; a row fails if it is null, or empty unless allowed.

    >>> rows = Rows(positions=[0, 1], ids=["0", "1"], samples=[{"a": "x"}, {"a": None}])
    >>> ground_truths(Template("{{ sample.a }}"), rows).failures[1].detail
    'the sample has no ground truth: "a" is null'
    """
    return present_texts(template, rows, "ground truth", allow_empty=allow_empty)


def present_texts(template: Template, rows: Rows, name: str, *, allow_empty: bool) -> Column:
    """Render a template for every row that has a value; `name` describes the missing one."""
    column = values(template, rows, stage=_STAGE)
    texts = as_texts(template, column, stage=_STAGE)
    # a search of the whole column costs next to nothing; rows are looked at only when one of them has no value
    if (
        None in column.values
        or (not allow_empty and "" in texts.values)
        or (shape(str(template)) is None and _may_hide_null(texts.values))
    ):
        absent = _absent(template, rows, column.values, texts, allow_empty=allow_empty)
        failures = {
            place: Failure(stage=_STAGE, kind="missing_field", detail=f"the sample has no {name}: {reason}")
            for place, reason in absent.items()
        }
        # a template that failed says more than the filler that it left
        return Column(values=texts.values, failures=dict(sorted({**failures, **texts.failures}.items())))
    return texts


def check_not_empty(template: Template, *, allow_empty: bool) -> None:
    """Reject a constant ground truth that is empty: every sample would fail."""
    if not allow_empty and is_constant(template) and not template.removesuffix("\n"):
        raise ValueError("the ground truth is empty; `allow_empty: true` says that the empty text is a real answer")


def _may_hide_null(texts: list[Any]) -> bool:
    """Return whether a filter may have turned null into text, as in `{{ sample.answer | trim }}`."""
    return any(word in texts for word in ("None", "none", "NONE"))


def _absent(
    template: Template, rows: Rows, raw_values: list[Any], texts: Column, *, allow_empty: bool
) -> dict[int, str]:
    """Explain why rows have no value, by position."""
    names = [use.name for use in columns_read(template)]
    value_name = f'"{names[0]}"' if len(names) == 1 else "the template's value"
    reasons: dict[int, str] = {}
    for place, (value, text) in enumerate(zip(raw_values, texts.values, strict=True)):
        if place in texts.failures:
            continue
        if value is None:
            reasons[place] = f"{value_name} is null"
        elif text == "" and not allow_empty:
            reasons[place] = f"{value_name} is empty"
        elif isinstance(value, str) and value.strip().casefold() == "none":
            # the text itself may be the answer: it stands for null only where the sample says null
            sample = rows.samples[place]
            if any(name in sample and sample[name] is None for name in names):
                reasons[place] = f"{value_name} is null"
    return reasons
