from __future__ import annotations

import pytest

from assay.types import Reply, Sampling

CHAT = {
    "type": "single_turn_solver",
    "input_builder": {
        "type": "chat_completion",
        "input_messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "{{ sample.question }}"},
        ],
    },
}
GENERIC = {"type": "single_turn_solver", "input_builder": {"type": "generic", "template": ""}}


def _generic(template):
    return {**GENERIC, "input_builder": {"type": "generic", "template": template}}


def test_messages_are_rendered_and_the_reply_is_the_answer(told, solve):
    model = told("4")
    solution = solve(CHAT, model, question="2+2?")
    assert solution.answer == "4"
    assert model.conversations() == [[("system", "Be brief."), ("user", "2+2?")]]
    assert [item["role"] for item in solution.trace.items] == ["system", "user", "assistant"]


def test_text_of_a_sample_is_never_read_as_a_template(told, solve):
    model = told("4")
    solve(CHAT, model, question="{{ 7 * 7 }} << config.x >>")
    assert model.conversations()[0][1] == ("user", "{{ 7 * 7 }} << config.x >>")


def test_sampling_goes_with_the_question(told, solve):
    model = told("4")
    sampling = {"temperature": 0.5, "max_tokens": 5, "stop": "."}
    solve({**CHAT, "sampling": sampling}, model, question="?")
    assert model.asked[0][1].sampling == Sampling(temperature=0.5, max_tokens=5, stop=(".",))


def test_a_generic_template_gives_messages_or_a_body(told, solve):
    model = told("a", "b", "c")
    solve(_generic('[{"role": "user", "content": {{ sample.q | tojson }}}]'), model, q='say "hi"')
    assert model.conversations() == [[("user", 'say "hi"')]]
    solve(_generic('{"messages": [{"role": "user", "content": "x"}], "tools": []}'), model)
    assert model.asked[1][1].body == {"messages": [{"role": "user", "content": "x"}], "tools": []}
    solution = solve(_generic("{{ sample.body }}"), model, body={"text": "hello"})
    assert model.asked[2][1].body == {"text": "hello"}
    assert solution.trace.get_last_user_text() == '{"text":"hello"}'


@pytest.mark.parametrize(
    ("settings", "kind"),
    [(CHAT, "missing_field"), (_generic("{{ sample.q"), "template"), (_generic("not json"), "template")],
)
def test_a_question_that_cannot_be_made_is_not_asked(told, solve, settings, kind):
    model = told()
    assert solve(settings, model, x=1).kind == kind
    assert model.asked == []


@pytest.mark.parametrize(
    ("reply", "kind"), [(Reply(text=None), "parse"), (Reply(text="no", refusal="not allowed"), "refusal")]
)
def test_a_reply_that_is_no_answer_fails_the_sample(told, solve, reply, kind):
    assert solve(CHAT, told(reply), question="?").kind == kind
