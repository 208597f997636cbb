from __future__ import annotations

from contextlib import suppress

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.solvers.conversation import UnreadableError, answer_of, as_text, as_trace

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Bern?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "assistant", "content": "Sunny.", "extra": 1},
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("B", "B"),
        ("", ""),
        (18, "18"),
        (True, "True"),
        (0.5, "0.5"),
        ("[1, 2]", "[1, 2]"),
        ("[]", "[]"),
        ("[B] is right", "[B] is right"),
        ('[{"a": 1}]', '[{"a": 1}]'),
        ('[{"role": 1}]', '[{"role": 1}]'),
        ("[" * 2000, "[" * 2000),
        ('[{"role": "user", "content": "x"}]', None),
        ([], None),
        (None, None),
    ],
)
def test_text_is_an_answer_itself_unless_it_is_a_conversation(value, text):
    assert as_text(value) == text


def test_tool_calls_of_chat_messages_become_items():
    trace = as_trace(CHAT)
    assert [item["type"] for item in trace.items] == [
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
    ]
    assert trace.function_calls == (
        {"type": "function_call", "name": "weather", "arguments": '{"city":"Bern"}', "call_id": "c1"},
    )
    assert trace.function_outputs == ({"type": "function_call_output", "call_id": "c1", "output": "sunny"},)
    assert trace.items[-1]["extra"] == 1
    assert answer_of(trace) == "Sunny."


def test_the_older_form_of_function_calls_is_read_too():
    trace = as_trace(
        [
            {"role": "assistant", "content": "look", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": [{"type": "text", "text": "42"}]},
        ]
    )
    assert trace.function_calls[0]["name"] == "f"
    assert trace.function_outputs[0] == {"type": "function_call_output", "call_id": "f", "output": "42"}
    assert answer_of(trace) == "look"


def test_open_responses_items_stay_as_they_are():
    items = [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
        },
    ]
    trace = as_trace(items)
    assert list(trace.items) == items
    assert answer_of(trace) == "ab"


def test_json_text_of_a_conversation_is_the_conversation():
    assert as_trace(orjson.dumps(CHAT).decode()) == as_trace(CHAT)


def test_a_reply_that_only_calls_functions_is_an_empty_answer():
    assert answer_of(as_trace(CHAT[:3])) == ""


@pytest.mark.parametrize("calls", ["x", [1], [{"function": "f"}], {"a": 1}])
def test_calls_that_are_none_are_left_out(calls):
    trace = as_trace([{"role": "assistant", "content": "x", "tool_calls": calls}])
    assert trace.function_calls == ()


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        (None, "parse", "null"),
        ({"role": "assistant"}, "parse", "expected text or a list of messages, got dict"),
        (["x"], "parse", "entry 1 of the conversation has neither role nor type"),
        ([{"role": "user", "content": "x"}, {"content": "x"}], "parse", "entry 2"),
        ([], "parse", "no assistant message"),
        ([{"role": "user", "content": "x"}], "parse", "no assistant message"),
        ([{"role": "assistant", "content": None}], "parse", "null content"),
        ([{"role": "assistant"}], "parse", "null content"),
        ([{"role": "assistant", "content": 3}], "parse", "type int"),
        ([{"role": "assistant", "content": None, "refusal": "I cannot."}], "refusal", "I cannot"),
        ([{"role": "assistant", "content": "No", "refusal": True}], "refusal", "the model refused"),
        (
            [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "Never"}]}],
            "refusal",
            "Never",
        ),
        ([{"role": "assistant", "content": [{"type": "refusal"}]}], "refusal", "refused"),
        ([{"role": "assistant", "content": "", "finish_reason": "content_filter"}], "refusal", "content_filter"),
    ],
)
def test_what_is_no_answer_says_why(value, kind, told):
    with pytest.raises(UnreadableError, match=told) as caught:
        answer_of(as_trace(value))
    failure = caught.value.as_failure()
    assert (failure.stage, failure.kind, failure.retryable) == ("solve", kind, False)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["assistant", "message"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "type", "content", "tool_calls", "function", "refusal", "text", "name"]), inner
        )
    ),
    max_leaves=12,
)


@given(_JSON)
def test_any_recorded_value_is_text_a_conversation_or_a_named_failure(value):
    if as_text(value) is None:
        with suppress(UnreadableError):
            assert isinstance(answer_of(as_trace(value)), str)
