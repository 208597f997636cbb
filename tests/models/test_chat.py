from __future__ import annotations

import pytest

from assay.models.chat import chat_messages, read_reply, request_body
from assay.models.client import CallError
from assay.models.dialect import EndpointQuirks
from assay.models.endpoint import Answer
from assay.types import Request, Sampling, Usage

MODEL = "openai/gpt-4.1-nano"
USER = {"role": "user", "content": "hi"}


def answer(body: bytes, status: int = 200) -> Answer:
    return Answer(status=status, body=body, headers={}, latency_s=0.5)


def test_a_reply_has_its_text_usage_and_finish_reason(ask):
    reply = ask(MODEL, "say [[reply: Paris]]")
    assert (reply.text, reply.refusal, reply.finish_reason) == ("Paris", None, "stop")
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.completion_tokens == 1
    assert reply.items == ({"type": "message", "role": "assistant", "content": "Paris"},)
    assert reply.latency_s > 0


@pytest.mark.parametrize(
    ("marker", "text", "refusal", "finish"),
    [
        ("[[null]]", None, None, "stop"),
        ("[[refusal]]", None, "I cannot help with that.", "stop"),
        ("[[filter]]", None, "stopped by a content filter", "content_filter"),
        ("[[length]]", "A", None, "length"),
        ("[[reply: ]]", "", None, "stop"),
    ],
)
def test_null_content_a_refusal_and_a_cut_reply_are_told_apart(ask, marker, text, refusal, finish):
    reply = ask(MODEL, marker)
    assert (reply.text, reply.refusal, reply.finish_reason) == (text, refusal, finish)


def test_reasoning_and_log_probabilities_are_kept(ask, loopback):
    loopback.configure(reasoning="because", logprobs=True)
    reply = ask(MODEL)
    assert reply.reasoning == "because"
    assert reply.logprobs == {"content": [{"token": "A", "logprob": -0.5}]}


def test_a_tool_call_is_an_item_of_its_own(ask):
    reply = ask(MODEL, "[[tool: search]]")
    assert reply.text is None
    assert reply.items[1] == {"type": "function_call", "name": "search", "arguments": '{"x": 1}', "call_id": "call_1"}


def test_the_body_holds_the_model_the_messages_and_only_parameters_that_are_set(ask, loopback):
    ask(MODEL, "hi", sampling=Sampling(temperature=0.0, max_tokens=5, stop=("\n",)))
    sent = loopback.requests()[-1]
    assert sent["body"] == {
        "model": "gpt-4.1-nano",
        "messages": [USER],
        "temperature": 0.0,
        "max_completion_tokens": 5,
        "stop": ["\n"],
    }
    assert sent["headers"]["authorization"] == "Bearer sk-canary-0123456789"
    assert sent["headers"]["content-type"] == "application/json"
    assert sent["path"] == "/v1/chat/completions"


def test_a_schema_is_sent_and_answered(ask):
    schema = {"type": "object", "properties": {"label": {"enum": ["yes", "no"]}}, "required": ["label"]}
    assert ask(MODEL, schema=schema).text == '{"label":"yes"}'


def test_calls_return_to_the_message_that_made_them_and_extra_fields_stay():
    items = (
        USER,
        {"type": "message", "role": "assistant", "content": None, "reasoning_content": "kept"},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "42"},
        {"type": "function_call", "name": "g", "arguments": "{}", "call_id": "2"},
    )
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    other = {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}}
    assert chat_messages(items) == [
        USER,
        {"role": "assistant", "content": None, "reasoning_content": "kept", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
        {"role": "assistant", "content": None, "tool_calls": [other]},
    ]


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ({"messages": [USER], "top_k": 3}, {"messages": [USER], "top_k": 3}),
        ([USER], {"messages": [USER]}),
        ("hi", {"messages": [USER]}),
        (5, {"messages": [{"role": "user", "content": "5"}]}),
    ],
)
def test_a_generic_body_becomes_fields_of_the_request(body, sent):
    assert request_body(Request(body=body), None) == sent


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        ("json_schema", {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"a": 1}, "strict": True}}),
        ("json_object", {"type": "json_object"}),
        ("text", None),
    ],
)
def test_each_step_of_the_ladder_asks_in_its_own_way(step, sent):
    body = request_body(Request(messages=(USER,), schema={"a": 1}), "m", EndpointQuirks(schema=step))
    assert body.get("response_format") == sent


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "choices"),
        (b"null", "choices"),
        (b'{"choices": []}', "choices"),
        (b'{"choices": [{"message": null}]}', "choices"),
        (b'{"error": {"message": "overloaded"}}', "overloaded"),
    ],
)
def test_an_answer_that_cannot_be_read_may_be_asked_for_again(body, said):
    with pytest.raises(CallError, match=said) as caught:
        read_reply(answer(body))
    assert (caught.value.failure.kind, caught.value.failure.retryable) == ("parse", True)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (400, False),
        (401, False),
        (403, False),
        (404, False),
        (408, True),
        (409, True),
        (429, True),
        (500, True),
        (529, True),
    ],
)
def test_the_status_decides_whether_a_retry_can_help(status, retryable):
    with pytest.raises(CallError, match=f"HTTP {status}: why") as caught:
        read_reply(answer(b'{"error": "why"}', status))
    failure = caught.value.failure
    assert (failure.kind, failure.retryable, caught.value.status) == ("http", retryable, status)


def test_content_in_parts_is_joined_and_usage_may_be_missing():
    parts = b'{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}'
    reply = read_reply(answer(parts))
    assert (reply.text, reply.usage) == ("ab", Usage())
