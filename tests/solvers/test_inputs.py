from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.solvers.inputs import asked, rendered_json, request_from
from assay.spec.fields import Template
from assay.types import Failure, Rows, Sampling

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=8,
)


def _rendered(template, **sample):
    return rendered_json(Template(template), Rows(positions=[0], ids=["0"], samples=[sample]))


@given(JSON)
def test_any_json_comes_through_by_itself_and_as_text(value):
    assert _rendered("{{ sample.x }}", x=value) == value or isinstance(value, str)
    assert _rendered("{{ sample.x | tojson }}", x=value) == value


def test_a_mapping_with_numbers_for_keys_gets_the_keys_of_json():
    assert _rendered("{{ {1: 'a'} }}") == {"1": "a"}


@pytest.mark.parametrize("template", ["{{ sample.x }}", "Say {{ sample.x }}", "{{ sample.items }}"])
def test_what_is_not_json_fails_and_says_how_to_mend_it(template):
    failure = _rendered(template, x="two words", items={1, 2})
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.kind) == ("solve", "template")
    assert "does not render JSON" in failure.detail
    assert "tojson" in failure.detail


def test_a_missing_column_fails_as_such():
    assert _rendered("{{ sample.y }}", x=1).kind == "missing_field"


USER = {"role": "user", "content": "Why?"}
ITEM = {"type": "message", **USER}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("Why?", (ITEM,)),
        (3, ({"type": "message", "role": "user", "content": "3"},)),
        (False, ({"type": "message", "role": "user", "content": "false"},)),
        ([USER], (ITEM,)),
        (USER, (ITEM,)),
        ({"messages": [USER]}, (ITEM,)),
        (
            [
                USER,
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "1", "content": "ok"},
            ],
            (
                ITEM,
                {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
                {"type": "function_call_output", "call_id": "1", "output": "ok"},
            ),
        ),
    ],
)
def test_messages_in_any_form_become_a_conversation(value, messages):
    request = request_from(value, Sampling(temperature=0.5))
    assert (request.messages, request.body, request.sampling.temperature) == (messages, None, 0.5)
    assert asked(request) == messages


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"messages": [USER], "tools": [{"name": "f"}]}, (ITEM,)),
        ({"input": [USER], "store": False}, (ITEM,)),
        ({"prompt": "Why?"}, ({"type": "message", "role": "user", "content": '{"prompt":"Why?"}'},)),
        (["a", "b"], ({"type": "message", "role": "user", "content": '["a","b"]'},)),
        ({"role": 3, "content": "x"}, ({"type": "message", "role": "user", "content": '{"role":3,"content":"x"}'},)),
    ],
)
def test_anything_else_is_sent_as_it_is_and_the_conversation_shows_it(body, shown):
    request = request_from(body, Sampling())
    assert (request.body, request.messages) == (body, ())
    assert asked(request) == shown


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_nothing_to_ask_is_a_failure(value):
    failure = request_from(value, Sampling())
    assert isinstance(failure, Failure)
    assert failure.kind == "template"
