from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.scorers.schema import KIND, JsonSchema

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"$ref": "#/$defs/age"}},
    "patternProperties": {"^x-": {"type": "integer"}},
    "additionalProperties": False,
    "required": ["name"],
    "$defs": {"age": {"type": "integer", "minimum": 0}},
}


def _score(rows, schema, **more):
    return KIND.score(JsonSchema.model_validate({"type": "json_schema", "schema": schema, **more}), rows)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"name": "Ada", "age": 36, "x-n": 1}', None),
        (' {"name": "Ada"}\n', None),
        ('{"name": "ada"}', "does not match"),
        ('{"name": "Ada", "age": -1}', "less than the minimum"),
        ('{"name": "Ada", "x-n": "1"}', "not of type 'integer'"),
        ('{"name": "Ada", "other": 1}', "'other' is not expected"),
        ('{"age": 3}', "required"),
        ("[]", "not of type 'object'"),
        ('```json\n{"name": "Ada"}\n```', "not JSON"),
        ("", "not JSON"),
        ("{'name': 'Ada'}", "not JSON"),
        ("[" * 5000, "not JSON"),
    ],
)
def test_a_reply_is_right_if_it_is_json_that_the_schema_accepts(make_rows, reply, problem):
    scored = _score(make_rows([reply]), PERSON)
    assert scored.values == {"is_correct": [1.0 if problem is None else 0.0]}
    told = scored.metadata["problem"][0]
    assert told is None if problem is None else problem in told


def test_a_value_that_is_no_text_is_checked_as_it_is(make_rows):
    rows = make_rows(None, {"v": [{"name": "Ada"}, '{"name": "Ada"}', 3]})
    assert _score(rows, PERSON, value="{{ sample.v }}").values["is_correct"] == [1.0, 1.0, 0.0]


def test_additional_properties_may_have_a_schema(make_rows):
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    replies = ['{"a": "x", "b": 1}', '{"b": "x"}', "3"]
    assert _score(make_rows(replies), schema).values["is_correct"] == [1.0, 0.0, 1.0]


def test_the_schema_may_be_json_text_or_a_boolean(make_rows):
    assert _score(make_rows(["3", "x"]), '{"type": "integer"}').values["is_correct"] == [1.0, 0.0]
    assert _score(make_rows(["3", "x"]), True).values["is_correct"] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "objekt"}, "not a valid JSON Schema: at type"),
        ({"properties": {"a": {"minimum": "1"}}}, "at properties/a/minimum"),
        ({"$ref": "https://example.org/person.json"}, "only references inside the schema"),
        (
            {"items": [{"$ref": "other.json#/a"}], "$schema": "http://json-schema.org/draft-07/schema#"},
            "only references",
        ),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "RE2 cannot run"),
        ({"patternProperties": {"(?=x)": {}}}, "RE2 cannot run"),
        ("{", "text, but not JSON"),
        (3, "expected a JSON Schema"),
        ([], "expected a JSON Schema"),
        ({"const": object()}, "not a valid JSON Schema"),
    ],
)
def test_a_wrong_schema_is_found_when_the_file_is_loaded(schema, told):
    with pytest.raises(ValidationError, match=told):
        JsonSchema.model_validate({"type": "json_schema", "schema": schema})


def test_data_in_a_schema_is_not_taken_for_references_and_placeholders_wait(make_rows):
    schema = {"const": {"$ref": "https://example.org"}}
    assert _score(make_rows(['{"$ref": "https://example.org"}']), schema).values["is_correct"] == [1.0]
    JsonSchema.model_validate({"type": "json_schema", "schema": "<< config.schema >>"})


def test_a_reference_by_id_inside_the_schema_is_followed(make_rows):
    schema = {"$defs": {"n": {"$id": "https://example.org/n", "type": "integer"}}, "$ref": "https://example.org/n"}
    assert _score(make_rows(["3", '"x"']), schema).values["is_correct"] == [1.0, 0.0]


def test_a_reference_into_nothing_fails_the_row_and_fetches_nothing(make_rows):
    scored = _score(make_rows(["3"]), {"$ref": "#/$defs/gone"})
    assert scored.failures[0].kind == "parse"
    assert "cannot be followed" in scored.failures[0].detail


def test_a_document_nested_too_deeply_is_a_failure_and_no_crash(make_rows):
    schema = {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
    scored = _score(make_rows(["[" * 1000 + "]" * 1000, "[]"]), schema)
    assert scored.values["is_correct"][1] == 1.0
    assert 0 in scored.failures or scored.values["is_correct"][0] == 1.0


def test_a_pattern_cannot_be_kept_busy_by_a_reply(make_rows):
    hostile = '"' + "a" * 50_000 + '!"'
    assert _score(make_rows([hostile]), {"pattern": "^(a+)+$"}).values["is_correct"] == [0.0]
