from __future__ import annotations

import orjson
import pytest

from assay.models.client import CallError
from assay.models.dialect import EndpointQuirks
from assay.models.endpoint import Answer
from assay.models.responses import read_reply, request_body
from assay.types import Request, Sampling

PLAIN = EndpointQuirks()
ADAPTER = "adapter: {key: latticeflow$openai_responses}\nmodel_key: gpt-5-mini\napi_key: $MY_KEY"


@pytest.fixture
def file(model_file):
    return model_file(ADAPTER, path="responses")


def read(document) -> object:
    return read_reply(Answer(status=200, body=orjson.dumps(document), headers={}, latency_s=0))


def test_a_reply_has_its_text_usage_and_finish_reason(ask, file, loopback):
    reply = ask(file, "say [[reply: Paris]]", sampling=Sampling(max_tokens=9, reasoning_effort="low", top_p=0.5))
    assert (reply.text, reply.refusal, reply.finish_reason) == ("Paris", None, "stop")
    assert reply.usage.prompt_tokens > 0
    assert reply.items == ({"type": "message", "role": "assistant", "content": "Paris"},)
    sent = loopback.requests()[-1]
    assert sent["headers"]["authorization"] == "Bearer sk-canary-0123456789"
    assert sent["body"] == {
        "model": "gpt-5-mini",
        "store": False,
        "top_p": 0.5,
        "max_output_tokens": 9,
        "reasoning": {"effort": "low"},
        "input": [{"role": "user", "content": "say [[reply: Paris]]"}],
    }


@pytest.mark.parametrize(
    ("marker", "text", "refusal", "finish"),
    [
        ("[[null]]", None, None, "stop"),
        ("[[refusal]]", None, "I cannot help with that.", "stop"),
        ("[[filter]]", None, "stopped by a content filter", "content_filter"),
        ("[[length]]", "A", None, "length"),
        ("[[tool: find]]", None, None, "tool_calls"),
    ],
)
def test_no_content_a_refusal_and_a_cut_reply_are_told_apart(ask, file, marker, text, refusal, finish):
    reply = ask(file, marker)
    assert (reply.text, reply.refusal, reply.finish_reason) == (text, refusal, finish)


def test_reasoning_is_kept_and_not_sent_back_unless_it_carries_itself(ask, file, loopback):
    loopback.configure(reasoning="because")
    reply = ask(file)
    assert (reply.reasoning, len(reply.items)) == ("because", 1)
    sealed = {"type": "reasoning", "encrypted_content": "x", "summary": []}
    assert read({"output": [sealed]}).items == (sealed,)


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        ("json_schema", {"format": {"type": "json_schema", "name": "answer", "schema": {"a": 1}, "strict": True}}),
        ("json_object", {"format": {"type": "json_object"}}),
        ("text", None),
    ],
)
def test_each_step_of_the_ladder_asks_in_its_own_way(step, sent):
    body = request_body(Request(schema={"a": 1}), None, EndpointQuirks(schema=step))
    assert body.get("text") == sent


def test_a_schema_is_answered(ask, file):
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    assert ask(file, schema=schema).text == '{"n":3}'


def test_parts_get_the_names_of_the_dialect_and_calls_stay_items():
    call = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"}
    image = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
    items = (
        {
            "role": "user",
            "content": ["a", {"type": "text", "text": "b"}, image, {"type": "input_file", "file_id": "f"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
        call,
    )
    body = request_body(Request(messages=items), None, PLAIN)
    assert body["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_text", "text": "b"},
                {"type": "input_image", "image_url": "https://x/y.png"},
                {"type": "input_file", "file_id": "f"},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "c"}]},
        call,
    ]


def test_a_generic_body_may_bring_its_own_input():
    assert request_body(Request(body={"input": "hi"}), "m", PLAIN) == {"model": "m", "store": False, "input": "hi"}


def test_log_probabilities_are_kept():
    part = {"type": "output_text", "text": "A", "logprobs": [{"token": "A", "logprob": -1}]}
    assert read({"output": [{"type": "message", "content": [part]}]}).logprobs == part["logprobs"]


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ([], "parse"),
        ({}, "parse"),
        ({"error": {"message": "no"}}, "parse"),
        ({"status": "failed", "output": [], "error": {"message": "server error"}}, "http"),
    ],
)
def test_an_answer_without_output_may_be_asked_for_again(document, kind):
    with pytest.raises(CallError) as caught:
        read(document)
    assert (caught.value.failure.kind, caught.value.failure.retryable) == (kind, True)


def test_an_error_is_told_in_the_providers_words(ask, file):
    with pytest.raises(CallError, match="HTTP 503: this fault"):
        ask(file, "[[status: 503]]")
