"""`llm`: rows written by a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from assay.datasets.synthesizers.common import Row, SynthesizedRows, SynthesizerSpec, failed
from assay.judging.ask import ask_judge
from assay.judging.json_extraction import Unreadable, objects_in
from assay.judging.parse import ParsedReply
from assay.judging.prompts import wording
from assay.registry import AskingSynthesizerKind
from assay.spec.fields import Template
from assay.spec.sampling import SamplingSpec
from assay.templates import TemplateFailure, render_text
from assay.types import Ask, Failure, Item, Request, Sampling

SAMPLES = "samples"
_TYPES = ("string", "number", "integer", "boolean", "array", "object")


class LlmSynthesizer(SynthesizerSpec):
    """Rows written by a model, which is asked for the named properties of one or several samples."""

    type: Literal["llm"]
    model_key: str
    system_prompt: Template | None = None
    user_prompt_template: Template
    format_instructions: Template | None = None
    file_ids_field: Any = None
    sample_properties: dict[str, Any] | list[Any] = Field(min_length=1)
    use_structured_outputs: bool = False
    sampling: SamplingSpec | None = None

    @field_validator("sample_properties")
    @classmethod
    def _readable(cls, fields: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
        properties_of(fields)
        return fields

    @field_validator("file_ids_field")
    @classmethod
    def _no_files(cls, files: Any) -> Any:
        if files is not None:
            raise ValueError("files cannot be sent to a model: read their text into a column (source type folder)")
        return files

    @property
    def properties(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of each property by its name."""
        return properties_of(self.sample_properties)


def properties_of(fields: dict[str, Any] | list[Any]) -> dict[str, dict[str, Any]]:
    """Return the properties of a sample, from any of the accepted notations.

    >>> properties_of({"question": "a hard one"})
    {'question': {'type': 'string', 'description': 'a hard one'}}
    >>> properties_of(["answer", {"name": "level", "type": "integer"}])
    {'answer': {'type': 'string'}, 'level': {'type': 'integer'}}
    """
    entries = list(fields.items()) if isinstance(fields, dict) else [_named(entry) for entry in fields]
    return {name: _schema(name, description) for name, description in entries}


def _named(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, str):
        return str(entry), None
    if isinstance(entry, dict):
        name = entry.get("name", entry.get("key"))
        if isinstance(name, str):
            return str(name), {field: value for field, value in entry.items() if field not in ("name", "key")}
    raise ValueError('a property is a name, or a mapping with "name"')


def _schema(name: str, description: Any) -> dict[str, Any]:
    if description is None or isinstance(description, str):
        return {"type": "string", **({"description": str(description)} if description else {})}
    if not isinstance(description, dict):
        raise ValueError(f'the property "{name}" is described by text, or by a mapping such as {{type, description}}')
    if description.get("type", "string") not in _TYPES:
        raise ValueError(f'the property "{name}" has an unknown type; known: {", ".join(_TYPES)}')
    return {"type": "string", **description}


async def write_rows(settings: LlmSynthesizer, row: Row, ask: Ask) -> SynthesizedRows:
    """Ask the model for rows based on one row; an unreadable reply is requested once more, then the row fails."""
    try:
        request = _request(settings, row)
    except TemplateFailure as error:
        return failed(str(error))
    properties = settings.properties

    def read(text: str) -> ParsedReply[list[Row]]:
        return ParsedReply(value=_samples(text, properties), written=text)

    verdict = await ask_judge(ask, request, model=settings.model_key, read=read, stage="generate", purpose="generate")
    if isinstance(verdict, Failure):
        return verdict
    return [{**row, **sample} for sample in verdict.value]


def _request(settings: LlmSynthesizer, row: Row) -> Request:
    described = "\n".join(
        f"- {name} ({schema['type']}){': ' + schema['description'] if schema.get('description') else ''}"
        for name, schema in settings.properties.items()
    )
    variables = {"source": row}
    preamble = f"{render_text(settings.system_prompt, variables)}\n\n" if settings.system_prompt is not None else ""
    form = "" if settings.format_instructions is None else f"\n\n{render_text(settings.format_instructions, variables)}"
    messages: tuple[Item, ...] = (
        {"type": "message", "role": "system", "content": preamble + wording("write", properties=described) + form},
        {"type": "message", "role": "user", "content": render_text(settings.user_prompt_template, variables)},
    )
    return Request(
        messages=messages,
        sampling=Sampling() if settings.sampling is None else settings.sampling.value,
        schema=_sample_schema(settings.properties) if settings.use_structured_outputs else None,
    )


def _sample_schema(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    one = {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {SAMPLES: {"type": "array", "items": one}},
        "required": [SAMPLES],
        "additionalProperties": False,
    }


def _samples(text: str, properties: Mapping[str, Any]) -> list[Row]:
    """Return the samples in a reply: those listed under `samples`, or single objects."""
    objects = objects_in(text)
    listed = [entry[SAMPLES] for entry in objects if SAMPLES in entry and SAMPLES not in properties]
    samples = listed[-1] if listed else objects
    if not isinstance(samples, list) or not samples or not all(isinstance(sample, Mapping) for sample in samples):
        raise Unreadable("the reply holds no sample: expected a JSON object")
    for sample in samples:
        missing = [name for name in properties if name not in sample]
        if missing:
            raise Unreadable(f'a sample lacks "{missing[0]}"')
    return [{name: sample[name] for name in properties} for sample in samples]


KIND = AskingSynthesizerKind(settings=LlmSynthesizer, synthesize=write_rows)
