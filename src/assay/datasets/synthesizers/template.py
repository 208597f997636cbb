"""`template`: texts from templates, one for every template and every combination of fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec, failed
from assay.registry import BatchSynthesizerKind
from assay.spec.fields import Template
from assay.templates import TemplateFailure, check_syntax, render_text

_PREFIX = "field_"


class TemplateSynthesizer(SynthesizerSpec):
    """Texts written from templates: `{{ source.column }}` is the row's, `{name}` each value of a field in turn."""

    type: Literal["template"]
    template: Template | list[Template]
    fields: dict[str, list[Any]] = Field(default_factory=dict)
    output_column: str = Field(default="text", min_length=1)

    @field_validator("fields")
    @classmethod
    def _has_values(cls, fields: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for name, values in fields.items():
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
                raise ValueError(f'"{name}" cannot be a field: letters, digits and _ only')
            if not values:
                raise ValueError(f'the field "{name}" has no values, so there is no combination')
        return fields

    @model_validator(mode="after")
    def _fits_together(self) -> TemplateSynthesizer:
        if self.output_column in self.fields:
            raise ValueError(f'the field "{self.output_column}" and the output column have the same name')
        for text in self.templates:
            wrong = check_syntax(Template(_with_fields(text, self.fields)))
            if wrong is not None:
                raise ValueError(f"not a template: {wrong}")
        unused = [name for name in self.fields if not any(f"{{{name}}}" in text for text in self.templates)]
        if unused:
            raise ValueError(f'no template uses the field "{unused[0]}": write it as {{{unused[0]}}}')
        return self

    @property
    def templates(self) -> Sequence[Template]:
        """One or several, always as a list."""
        return [self.template] if isinstance(self.template, str) else self.template


def from_templates(settings: TemplateSynthesizer, rows: Sequence[Row]) -> list[SynthesizedRows]:
    """A row for every template and combination, with its text and the values that went into it.

    >>> settings = TemplateSynthesizer(type="template", template="{tone} {{ source.q }}", fields={"tone": ["a", "b"]})
    >>> from_templates(settings, [{"q": "?"}])
    [[{'q': '?', 'tone': 'a', 'text': 'a ?'}, {'q': '?', 'tone': 'b', 'text': 'b ?'}]]
    """
    return [_filled_rows(settings, row) for row in rows]


def _filled_rows(settings: TemplateSynthesizer, row: Row) -> SynthesizedRows:
    try:
        return [
            {**row, **values, settings.output_column: _text(template, row, values)}
            for template in settings.templates
            for values in _combinations(settings.fields)
        ]
    except TemplateFailure as error:
        return failed(str(error))


def _combinations(fields: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    for values in product(*fields.values()):
        yield dict(zip(fields, values, strict=True))


def _text(template: Template, row: Row, values: Row) -> str:
    named = {f"{_PREFIX}{name}": value for name, value in values.items()}
    return render_text(Template(_with_fields(template, values), template.place), {"source": row, **named})


def _with_fields(template: str, fields: Mapping[str, Any]) -> str:
    """Turn `{name}` into an expression; the inserted value is never interpreted as a template."""
    text = str(template)
    for name in fields:
        text = re.sub(r"(?<![{%])\{" + re.escape(name) + r"\}(?!\})", f"{{{{ {_PREFIX}{name} }}}}", text)
    return text


KIND = BatchSynthesizerKind(settings=TemplateSynthesizer, synthesize=from_templates)
