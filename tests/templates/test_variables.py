from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.templates import row_variables, texts
from assay.types import Rows, Trace

Batch = Callable[..., Rows]

CONVERSATION = Trace(
    (
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Hel"}, {"text": "lo"}]},
        {"type": "function_call", "name": "look_up", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "42"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]},
        {"type": "message", "role": "assistant", "content": None},
        {"type": "message", "role": "assistant", "content": "42"},
    )
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ solver_output.output }}", "42"),
        ("{{ solver_output['output'] }}.", "42."),
        ("{{ solver_output.output.choices[0].message.content }}.", "42."),
        ("{{ solver_output['output']['choices'][0]['message']['content'] }}.", "42."),
        ("{{ solver_output.output[0] }}{{ solver_output.output | length }}", "42"),
        ("{{ '4' in solver_output.output }}", "True"),
        ("{{ solver_output.trace.get_last_user_text() }}", "And?"),
        ("{{ model_output }}.{{ model_output.choices[0].message.content }}", "42.42"),
        ("{{ model_outputs | join('|') }}", "Hello||42"),
        ("{{ input_prompt }}", "And?"),
        ("{{ messages | length }} {{ messages[2].content }}", "8 Hello"),
        ("{{ 'ell' in messages[2].content }} {{ 'x' in messages[6].content }}", "True False"),
        ("{{ messages[2].content[1].text }}", "lo"),
        ("{{ {'text': 'lo'} in messages[2].content }}", "True"),
        ("{{ trace['items'] | length }} {{ trace.function_outputs[0].output }}", "8 42"),
        ("{{ trace.turns | length }} {{ trace.turns[0].user_message.content }}", "2 Hi"),
        (
            "{{ trace.turns[0].function_calls[0].name }} {{ trace.turns[1].assistant_messages | length }}",
            "look_up 2",
        ),
        ("{{ trace.get_first_system_prompt() }}", "Be brief."),
        ("{{ trace.get_function_calls_by_name('look_up') | length }}", "1"),
        ("{{ trace.get_function_calls_by_name('other') | length }}", "0"),
        ("{{ trace.get_last_assistant_text() }}", "42"),
        ("{{ sample.sample_id }}", "s0"),
        ("{{ sample['sample_id'] }}!", "s0!"),
        ("{{ sample }}", "{'q': 'Hi'}"),
    ],
)
def test_what_templates_see_of_a_conversation(batch: Batch, template: str, expected: str) -> None:
    column = texts(template, batch({"q": "Hi"}, answers=["42"], traces=[CONVERSATION]))
    assert column.failures == {}
    assert column.values == [expected]


def test_a_reply_alone_is_a_conversation_of_one_message(batch: Batch) -> None:
    rows = batch({}, answers=["yes"])
    template = "{{ trace.turns[0].user_message is none }} {{ messages[0].content }} {{ model_outputs | length }}"
    assert texts(template, rows).values == ["True yes 1"]
    assert texts("{{ input_prompt }}", rows).failures[0].kind == "template"


def test_a_task_without_a_solver_has_only_the_sample(batch: Batch) -> None:
    assert list(row_variables(batch({"x": 1}), 0)) == ["sample"]
    assert len(row_variables(batch({"x": 1}, answers=["a"]), 0)) == 6


def test_the_column_sample_id_is_the_id_when_there_is_one(batch: Batch) -> None:
    rows = batch({"sample_id": 7}, {})
    assert texts("{{ sample.sample_id }}", rows).values == ["7", "s1"]
    assert texts("{{ sample.sample_id }}!", rows).values == ["7!", "s1!"]


def test_a_variable_is_made_only_when_it_is_read(batch: Batch) -> None:
    class Loud(Trace):
        @property
        def items(self) -> tuple[()]:  # type: ignore[override]
            raise AssertionError("read")

    rows = batch({"x": 1}, answers=["a"], traces=[object.__new__(Loud)])
    assert texts("{{ sample.x }} {{ solver_output.output }}", rows).values == ["1 a"]


def test_a_conversation_without_messages_has_no_turns_or_prompts() -> None:
    empty = Trace(())
    assert empty.turns == ()
    assert empty.get_last_user_text() is None
    assert empty.get_first_system_prompt() is None
