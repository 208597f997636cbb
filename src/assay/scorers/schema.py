"""`json_schema`: the reply is JSON of the expected form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal

import orjson
from pydantic import Field, field_validator

from assay.registry import BatchScorerKind
from assay.scorers.common import SHARE, STAGE, RowFailureError, TextScorer, chat_replies, row_by_row
from assay.scorers.pattern import compiled, matchable
from assay.templates import has_placeholder, values
from assay.types import Rows, ScoreColumns

MOST_STEPS = 200_000
"""Keywords that are applied to one reply. References that branch double the work at every level: 24 levels are 2^24."""
_steps: ContextVar[list[int]] = ContextVar("_steps")
"""The number of keywords applied to the current reply, in a list so that it can be incremented."""
_DATA_KEYWORDS = ("const", "enum", "default", "examples")


class JsonSchema(TextScorer):
    """Whether the text is JSON that conforms to a JSON Schema, given as a mapping or as JSON text."""

    type: Literal["json_schema"]
    wanted: Any = Field(alias="schema")

    @field_validator("wanted")
    @classmethod
    def _is_a_schema(cls, schema: Any) -> Any:
        if isinstance(schema, str) and has_placeholder(schema):
            return schema
        if isinstance(schema, str):
            try:
                schema = orjson.loads(str(schema))  # orjson takes no subclass of str
            except orjson.JSONDecodeError as error:
                raise ValueError(f"the schema is text, but not JSON: {error.msg}") from error
        if not isinstance(schema, Mapping | bool):
            raise ValueError("expected a JSON Schema: a mapping, true or false")
        _check_schema(schema)
        return schema


def json_schema(settings: JsonSchema, rows: Rows) -> ScoreColumns:
    """1.0 where the text is valid JSON by the schema, with the first problem where it is not."""
    problem_of = _judge(orjson.dumps(settings.wanted).decode())

    def one(value: Any) -> dict[str, Any]:
        document = value
        if isinstance(value, str):
            try:
                document = orjson.loads(value)
            except orjson.JSONDecodeError as error:
                return {"is_correct": 0.0, "problem": f"not JSON: {error}"}
        problem = problem_of(document)
        return {"is_correct": 1.0 if problem is None else 0.0, "problem": problem}

    column = chat_replies(settings, rows) if settings.value is None else values(settings.value, rows, stage=STAGE)
    return row_by_row(KIND, one, [column])


def _check_schema(schema: Any) -> None:
    """Find what is wrong with a schema before any reply is seen; nothing is ever fetched for it."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    try:
        orjson.dumps(schema)
        validator_for(schema, default=_newest()).check_schema(schema)
    except SchemaError as error:
        at = "/".join(map(str, error.path)) or "the top"
        raise ValueError(f"not a valid JSON Schema: at {at}: {error.message[:300]}") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a valid JSON Schema: {error}") from error
    ids = {str(part["$id"]) for part in _parts(schema) if isinstance(part.get("$id"), str)}
    for part in _parts(schema):
        reference = part.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#") and reference.split("#")[0] not in ids:
            raise ValueError(f'the schema refers to "{reference}"; only references inside the schema are followed')
        for pattern in (part.get("pattern"), *_pattern_keys(part)):
            if isinstance(pattern, str):
                compiled(pattern)


def _pattern_keys(part: Mapping[str, Any]) -> list[str]:
    named = part.get("patternProperties")
    return list(named) if isinstance(named, Mapping) else []


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping of a schema that is no data."""
    if isinstance(schema, Mapping):
        yield schema
        for name, part in schema.items():
            if name not in _DATA_KEYWORDS:
                yield from _parts(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _parts(part)


def _newest() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator


@lru_cache(maxsize=64)
def _judge(schema_text: str) -> Callable[[Any], str | None]:
    """Return a function that reports the first problem of a document, None if the schema accepts it."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import extend, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    schema = orjson.loads(schema_text)
    base = validator_for(schema, default=_newest())
    counted = {name: _counted(function) for name, function in {**base.VALIDATORS, **_LINEAR}.items()}
    linear = extend(base, counted)  # type: ignore[no-untyped-call]
    validator = linear(schema, registry=Registry())

    def problem_of(document: Any) -> str | None:
        _steps.set([0])
        try:
            error = best_match(validator.iter_errors(document))
        except Unresolvable as unresolved:
            raise RowFailureError(f"the schema's reference cannot be followed: {unresolved}") from unresolved
        except RecursionError as deep:
            raise RowFailureError("the document or the schema is nested too deeply") from deep
        return None if error is None else f"{error.json_path}: {error.message[:500]}"

    return problem_of


def _counted(function: Callable[..., Iterator[Any] | None]) -> Callable[..., Iterator[Any]]:
    """A keyword of JSON Schema that takes part in the count of steps."""

    def count_and_apply(*arguments: Any) -> Iterator[Any]:
        steps = _steps.get()
        steps[0] += 1
        if steps[0] > MOST_STEPS:
            raise RowFailureError(f"the schema takes more than {MOST_STEPS:,} steps for this reply")
        yield from function(*arguments) or ()

    return count_and_apply


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not compiled(pattern).search(matchable(instance)):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for pattern, subschema in patterns.items() if isinstance(instance, Mapping) else ():
        for name, value in instance.items():
            if compiled(pattern).search(matchable(name)):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    named, patterns = schema.get("properties", {}), [compiled(p) for p in schema.get("patternProperties", {})]
    for name, value in instance.items() if isinstance(instance, Mapping) else ():
        if name in named or any(pattern.search(matchable(name)) for pattern in patterns):
            continue
        if subschema is False:
            yield ValidationError(f"the property {name!r} is not expected")
        else:
            yield from validator.descend(value, subschema, path=name)


# the library runs these on an engine that a hostile reply can keep busy for ever
_LINEAR = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}

KIND = BatchScorerKind(
    settings=JsonSchema,
    score=json_schema,
    values=("is_correct",),
    metadata=("problem",),
    ranges={"is_correct": SHARE},
)
