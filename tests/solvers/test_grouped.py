from __future__ import annotations

import asyncio
import json

import pytest

from assay.models.client import CallError
from assay.types import Failure, Reply


def _settings(template, **more):
    return {
        "type": "grouped_single_turn_solver",
        "input_builder": {"type": "generic", "template": template},
        **more,
    }


def test_a_list_of_inputs_gives_the_json_list_of_answers_in_order(told, solve):
    model = told("un", "deux")
    solution = solve(_settings("{{ sample.questions }}"), model, questions=["one", "two"])
    assert json.loads(solution.answer) == ["un", "deux"]
    assert model.conversations() == [[("user", "one")], [("user", "two")]]


def test_a_mapping_keeps_its_names_and_other_alphabets(told, solve):
    model = told("ü", "б")
    template = '{"a": [{"role": "system", "content": "s"}, {"role": "user", "content": "x"}], "b": {"prompt": "y"}}'
    solution = solve(_settings(template), model)
    assert solution.answer == '{"a":"ü","b":"б"}'
    assert model.conversations()[0] == [("system", "s"), ("user", "x")]
    assert model.asked[1][1].body == {"prompt": "y"}


def test_the_trace_holds_every_question_and_reply_with_its_input(told, solve):
    solution = solve(_settings('{"a": "x", "b": "y"}'), told("1", "2"))
    seen = [(item["input"], item["role"], item["content"]) for item in solution.trace.items]
    assert seen == [("a", "user", "x"), ("a", "assistant", "1"), ("b", "user", "y"), ("b", "assistant", "2")]


def test_all_inputs_are_asked_at_once(solve):
    together = asyncio.Barrier(3)

    async def ask(request, model=None):
        await asyncio.wait_for(together.wait(), timeout=10)
        return Reply(text=request.messages[0]["content"])

    assert json.loads(solve(_settings('["a", "b", "c"]'), ask).answer) == ["a", "b", "c"]


@pytest.mark.parametrize(("template", "answer"), [("[]", "[]"), ("{}", "{}")])
def test_no_inputs_make_no_calls(told, solve, template, answer):
    model = told()
    assert solve(_settings(template), model).answer == answer
    assert model.asked == []


def test_one_reply_without_an_answer_leaves_the_sample_without_one(told, solve):
    failure = solve(_settings('{"a": "x", "b": "y"}'), told("1", Reply(text=None, refusal="no")))
    assert failure == Failure(stage="solve", kind="refusal", detail="input b: no")


def test_a_call_that_fails_fails_the_sample_but_the_others_are_waited_for(told, solve):
    broken = Failure(stage="solve", kind="http", detail="status 500")
    model = told(broken, "paid")
    with pytest.raises(CallError, match="status 500"):
        solve(_settings('["x", "y"]'), model)
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("template", "words"),
    [("3", "got 3"), ('"text"', "a list or a mapping"), ('["x", null]', "input 1: "), ("{{ sample.y }}", "no column")],
)
def test_what_is_no_group_of_inputs_is_not_asked(told, solve, template, words):
    model = told()
    failure = solve(_settings(template), model, x=1)
    assert words in failure.detail
    assert model.asked == []


def test_the_same_input_again_is_drawn_anew_unless_the_answer_is_fixed(told, solve):
    model = told("a", "b", "c", "d")
    solve(_settings('["x", "x", "y"]', sampling={"temperature": 1.0}), model)
    assert [request.occurrence for _, request in model.asked] == [0, 1, 0]
    model = told("a", "a")
    solve(_settings('["x", "x"]', sampling={"temperature": 0.0}), model)
    assert [request.occurrence for _, request in model.asked] == [0, 0]
