from __future__ import annotations

import pytest

from assay.models.anthropic import read_reply, request_body
from assay.models.client import CallError
from assay.models.dialect import EndpointQuirks
from assay.models.endpoint import Answer
from assay.types import Request, Sampling, Usage

MODEL = "anthropic/claude-haiku-4-5"
PLAIN = EndpointQuirks()


def test_a_reply_has_its_text_usage_and_finish_reason(ask, loopback):
    reply = ask(MODEL, "say [[reply: Paris]]", sampling=Sampling(temperature=0.5, max_tokens=9, stop=("x",)))
    assert (reply.text, reply.refusal, reply.finish_reason) == ("Paris", None, "stop")
    assert reply.usage.prompt_tokens > 0
    assert reply.items == ({"type": "message", "role": "assistant", "content": "Paris"},)
    sent = loopback.requests()[-1]
    assert sent["path"] == "/v1/messages"
    assert sent["headers"]["x-api-key"] == "sk-canary-0123456789"
    assert sent["headers"]["anthropic-version"]
    assert "authorization" not in sent["headers"]
    assert sent["body"] == {
        "model": "claude-haiku-4-5",
        "max_tokens": 9,
        "temperature": 0.5,
        "stop_sequences": ["x"],
        "messages": [{"role": "user", "content": "say [[reply: Paris]]"}],
    }


@pytest.mark.parametrize(
    ("marker", "text", "refused", "finish"),
    [
        ("[[null]]", None, False, "stop"),
        ("[[refusal]]", None, True, "refusal"),
        ("[[length]]", "A", False, "length"),
        ("[[tool: find]]", None, False, "tool_calls"),
    ],
)
def test_no_content_a_refusal_and_a_cut_reply_are_told_apart(ask, marker, text, refused, finish):
    reply = ask(MODEL, marker)
    assert (reply.text, reply.refusal is not None, reply.finish_reason) == (text, refused, finish)


def test_thoughts_are_kept_and_go_back_with_the_next_turn(ask, loopback):
    loopback.configure(reasoning="because")
    reply = ask(MODEL)
    assert (reply.text, reply.reasoning) == ("A", "because")
    body = request_body(Request(messages=(*reply.items, {"role": "user", "content": "go on"})), "m", PLAIN)
    assert body["messages"][0]["content"] == [
        {"type": "thinking", "thinking": "because", "signature": "sig"},
        {"type": "text", "text": "A"},
    ]


def test_a_schema_is_sent_with_the_effort(ask, loopback):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    assert ask(MODEL, schema=schema, sampling=Sampling(reasoning_effort="low")).text == '{"ok":true}'
    config = loopback.requests()[-1]["body"]["output_config"]
    assert config == {"effort": "low", "format": {"type": "json_schema", "schema": schema}}


def test_a_schema_that_is_not_taken_is_left_out(ask, loopback):
    loopback.configure(reject_schema="all")
    assert ask(MODEL, schema={"type": "object"}).text == "A"


def test_system_text_stands_apart_and_calls_are_blocks():
    items = (
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "look"}, "plain", {"type": "input_text", "text": "x"}]},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "1"},
        {"type": "function_call", "name": "g", "arguments": "", "call_id": "2"},
        {"type": "function_call_output", "call_id": "1", "output": "42"},
        {"type": "function_call_output", "call_id": "2", "output": "43"},
        {"role": "assistant", "content": None},
    )
    body = request_body(Request(messages=items), None, PLAIN)
    assert body["system"] == "Be brief.\n\nBe kind."
    text = {"type": "text", "text": "look"}
    assert body["messages"] == [
        {"role": "user", "content": [text, {"type": "text", "text": "plain"}, {"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
                {"type": "tool_use", "id": "2", "name": "g", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "42"},
                {"type": "tool_result", "tool_use_id": "2", "content": "43"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/y.png"}}, {"type": "url", "url": "https://x/y.png"}),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
            {"type": "base64", "media_type": "image/png", "data": "QUJD"},
        ),
    ],
)
def test_images_become_blocks(part, source):
    body = request_body(Request(messages=({"role": "user", "content": [part]},)), None, PLAIN)
    assert body["messages"][0]["content"] == [{"type": "image", "source": source}]


def test_a_generic_body_keeps_its_own_fields():
    request = Request(body={"messages": [{"role": "user", "content": "hi"}], "top_k": 5})
    body = request_body(request, "m", PLAIN)
    assert (body["top_k"], body["messages"]) == (5, [{"role": "user", "content": "hi"}])


def test_cached_prompt_tokens_count_as_prompt_tokens():
    usage = b'{"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 8}'
    body = b'{"content": [{"type": "text", "text": "A"}], "usage": ' + usage + b"}"
    reply = read_reply(Answer(status=200, body=body, headers={}, latency_s=0))
    assert reply.usage == Usage(prompt_tokens=7, completion_tokens=8)


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"type": "error", "error": {"message": "no"}}'])
def test_an_answer_that_cannot_be_read_may_be_asked_for_again(body):
    with pytest.raises(CallError) as caught:
        read_reply(Answer(status=200, body=body, headers={}, latency_s=0))
    assert caught.value.failure.kind == "parse"
    assert caught.value.failure.retryable


def test_an_error_is_told_in_the_providers_words(ask):
    with pytest.raises(CallError, match="HTTP 529: this fault was asked for") as caught:
        ask(MODEL, "[[status: 529]]")
    assert caught.value.failure.retryable
