from __future__ import annotations

import asyncio
import json

import pytest

from assay.errors import SpecError
from assay.models.client import CallError
from assay.models.connect import connect
from assay.models.price import FREE
from assay.types import Request, Usage


@pytest.fixture
def scripted(tmp_path):
    """A connection to lines written as a file."""

    def made(*lines):
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        (tmp_path / "replies.jsonl").write_text(text)
        return connect("scripted/replies.jsonl", root=tmp_path, environment={})

    return made


def asked(connection, *texts):
    async def go():
        found = []
        for text in texts:
            request = Request(messages=({"role": "user", "content": text},))
            found.append((await connection.client.ask(request)).text)
        return found

    return asyncio.run(go())


def test_the_first_match_answers_else_the_other_lines_in_turn(scripted):
    connection = scripted(
        {"reply": "one"},
        {"reply": "sum", "match": "1 + 1"},
        {"reply": "never", "match": "1 + 1 ="},
        "",
        {"reply": "two"},
    )
    assert asked(connection, "a", "what is 1 + 1 = ?", "b", "c") == ["one", "sum", "two", "one"]


def test_the_match_is_looked_for_in_the_last_message_only(scripted):
    connection = scripted({"reply": "yes", "match": "secret"}, {"reply": "no"})
    messages = ({"role": "system", "content": "secret"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]})
    assert asyncio.run(connection.client.ask(Request(messages=messages))).text == "no"
    assert asyncio.run(connection.client.ask(Request(body={"prompt": "secret"}))).text == "yes"
    assert asyncio.run(connection.client.ask(Request(body="a secret"))).text == "yes"


def test_a_reply_may_be_null_or_an_object_and_carry_usage(scripted):
    connection = scripted(
        {"reply": None}, {"reply": {"score": 1}}, {"reply": "x", "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    )
    assert asked(connection, "a", "b") == [None, '{"score":1}']
    reply = asyncio.run(connection.client.ask(Request(messages=({"content": "c"},))))
    assert reply.usage == Usage(prompt_tokens=3, completion_tokens=4)
    assert reply.items == ({"type": "message", "role": "assistant", "content": "x"},)


def test_an_error_is_a_failure_of_the_call(scripted):
    connection = scripted({"error": "overloaded", "match": "x"}, {"error": {"code": 5}})
    for text, said in (("x", "overloaded"), ("y", '{"code":5}')):
        with pytest.raises(CallError, match=said) as caught:
            asked(connection, text)
        assert not caught.value.failure.retryable


def test_a_question_that_no_line_answers_is_a_failure(scripted):
    with pytest.raises(CallError, match="no line of the script matches"):
        asked(scripted({"reply": "a", "match": "x"}), "y")


def test_the_content_decides_the_identity_and_nothing_is_billed(scripted):
    first, second = scripted({"reply": "a"}), scripted({"reply": "b"})
    assert first.identity != second.identity
    assert first.prices == FREE
    assert first.name == "scripted/replies.jsonl"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "replies.jsonl:2:"),
        ("[]", "expected an object"),
        ({"replay": "x"}, 'did you mean "reply"'),
        ({}, 'either "reply" or "error"'),
        ({"reply": "a", "error": "b"}, 'either "reply" or "error"'),
        ({"error": None}, 'either "reply" or "error"'),
        ({"reply": "a", "match": 3}, '"match" is the text'),
        ({"reply": "a", "usage": 3}, '"usage" is an object'),
    ],
)
def test_a_line_that_is_wrong_is_told_with_its_number(scripted, line, said):
    with pytest.raises(SpecError) as caught:
        scripted({"reply": "fine"}, line)
    assert said in str(caught.value)
    assert "replies.jsonl:2:" in str(caught.value)


def test_an_empty_script_and_a_missing_file_are_told(scripted, tmp_path):
    with pytest.raises(SpecError, match="has no lines"):
        scripted("")
    with pytest.raises(SpecError, match="No such file"):
        connect("scripted/nothing.jsonl", root=tmp_path, environment={})
