"""Synthesizers: what each makes of a row, and what it refuses."""

import asyncio

import pytest
from pydantic import ValidationError

from assay.builtin import registry
from assay.datasets.synthesizers.drop_columns import DropColumns, drop_columns
from assay.datasets.synthesizers.llm import LlmSynthesizer, properties_of, write_rows
from assay.datasets.synthesizers.template import TemplateSynthesizer, from_templates
from assay.types import Failure, Reply

ROW = {"q": "Why {tone}?", "sample_id": "7"}


def made(row=ROW, **fields):
    (rows,) = from_templates(TemplateSynthesizer.model_validate({"type": "template", **fields}), [row])
    return rows


def test_every_kind_has_a_name_and_a_sentence():
    for name, kind in registry(plugins=False).synthesizers.items():
        assert kind.name == name
        assert kind.summary.endswith(".")


def test_a_row_for_every_template_and_every_combination():
    rows = made(template=["{a}{b}", "{b}-{a}"], fields={"a": [1, 2], "b": ["x"]})
    assert [row["text"] for row in rows] == ["1x", "2x", "x-1", "x-2"]
    assert rows[0] == {**ROW, "a": 1, "b": "x", "text": "1x"}


def test_values_and_rows_are_put_in_as_they_are():
    (row,) = made(template="{tone}: {{ source.q }}", fields={"tone": ["{{ 1 + 1 }}"]})
    assert row["text"] == "{{ 1 + 1 }}: Why {tone}?"


def test_braces_of_jinja_are_left_alone():
    (row,) = made(template="{% set tone = 'x' %}{{tone}} {tone}", fields={"tone": ["loud"]})
    assert row["text"] == "x loud"


def test_a_template_that_gives_nothing_for_a_row_is_a_failure_of_that_row():
    failure = made(template="{{ source.nothing }}")
    assert isinstance(failure, Failure)
    assert failure.stage == "generate"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"template": "{{ x", "fields": {}}, "not a template"),
        ({"template": "plain", "fields": {"a": [1]}}, 'no template uses the field "a"'),
        ({"template": "{a}", "fields": {"a": []}}, 'the field "a" has no values'),
        ({"template": "{a b}", "fields": {"a b": [1]}}, "cannot be a field"),
        ({"template": "{text}", "fields": {"text": [1]}}, "have the same name"),
    ],
)
def test_templates_that_cannot_work_are_refused(fields, words):
    with pytest.raises(ValidationError, match=words):
        TemplateSynthesizer.model_validate({"type": "template", **fields})


def test_columns_that_are_not_there_need_not_be_dropped():
    settings = DropColumns(type="drop_columns", columns=["q", "z"])
    assert drop_columns(settings, [ROW]) == [[{"sample_id": ROW["sample_id"]}]]


def asked(*replies, **fields):
    """What becomes of a row when the model gives these replies, and the requests it got."""
    given = {"type": "llm", "model_key": "m", "user_prompt_template": "{{ source.q }}", "sample_properties": ["a"]}
    settings = LlmSynthesizer.model_validate({**given, **fields})
    requests, left = [], list(replies)

    async def ask(request, model=None):
        requests.append(request)
        return Reply(text=left.pop(0))

    return asyncio.run(write_rows(settings, dict(ROW), ask)), requests


@pytest.mark.parametrize(
    "reply",
    ['{"samples": [{"a": 1}, {"a": 2}]}', '```json\n{"a": 1}\n```\nand {"a": 2}', "Here: {'a': 1}, {'a': 2, 'b': 3}"],
)
def test_replies_are_read_tolerantly(reply):
    rows, _ = asked(reply)
    assert rows == [{**ROW, "a": 1}, {**ROW, "a": 2}]


def test_an_unreadable_reply_is_asked_for_once_more_with_the_problem_named():
    rows, requests = asked('{"samples": [{"b": 1}]}', '{"a": 5}')
    assert rows == [{**ROW, "a": 5}]
    assert 'a sample lacks "a"' in requests[1].messages[-1]["content"]


@pytest.mark.parametrize("reply", ["no", "{}", '{"samples": []}', '{"samples": 3}', '{"samples": [1]}'])
def test_a_reply_without_samples_is_never_a_row(reply):
    failure, requests = asked(reply, reply)
    assert isinstance(failure, Failure)
    assert failure.detail.startswith("the model was asked twice")
    assert len(requests) == 2


def test_the_model_is_told_the_properties_and_given_a_schema_when_wanted():
    fields = {"sample_properties": {"a": "a letter", "n": {"type": "integer"}}, "system_prompt": "About {{ source.q }}"}
    _, (request,) = asked('{"a": 1, "n": 2}', use_structured_outputs=True, **fields)
    told = request.messages[0]["content"]
    assert told.startswith("About Why {tone}?")
    assert "- a (string): a letter\n- n (integer)" in told
    assert request.schema["properties"]["samples"]["items"]["required"] == ["a", "n"]
    assert request.purpose == "generate"


@pytest.mark.parametrize("given", [[3], [{"type": "string"}], {"a": 3}, {"a": {"type": "colour"}}])
def test_properties_that_say_nothing_are_refused(given):
    with pytest.raises(ValueError, match="propert"):
        properties_of(given)


def test_a_prompt_that_cannot_be_made_is_a_failure_of_the_row():
    failure, requests = asked(user_prompt_template="{{ source.nothing }}")
    assert isinstance(failure, Failure)
    assert requests == []
