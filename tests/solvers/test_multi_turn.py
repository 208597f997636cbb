from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.types import Failure, Reply, Sampling

GENERATE = {"type": "generate"}


def _settings(*builders, **more):
    return {"type": "multi_turn_solver", "message_builders": list(builders), **more}


def _user(content, **more):
    return {"type": "chat_message", "role": "user", "content": content, **more}


def _until(text, **more):
    return {"includes": text, **more}


def _loop(*builders, **more):
    return {"type": "loop", "message_builders": list(builders), **more}


def _other(**more):
    return {"type": "generate_message", "model_key": "simulator", **more}


def _texts(solution):
    return [item["content"] for item in solution.trace.items]


def test_the_whole_conversation_is_sent_each_turn_and_the_last_reply_is_the_answer(told, solve):
    model = told("Paris", "Bern")
    solution = solve(
        _settings(
            {"type": "chat_message", "role": "system", "content": "Capitals."},
            _user("{{ sample.first }}?"),
            GENERATE,
            _user("and {{ sample.second }}?"),
            GENERATE,
        ),
        model,
        first="France",
        second="Switzerland",
    )
    assert solution.answer == "Bern"
    assert model.conversations()[1] == [
        ("system", "Capitals."),
        ("user", "France?"),
        ("assistant", "Paris"),
        ("user", "and Switzerland?"),
    ]
    assert [item["role"] for item in solution.trace.items] == ["system", "user", "assistant", "user", "assistant"]


def test_extra_fields_of_replies_are_sent_back(told, solve):
    item = {"type": "message", "role": "assistant", "content": "a", "reasoning_content": "because", "id": "m1"}
    model = told(Reply(text="a", items=(item,)), "b")
    solve(_settings(_user("1"), GENERATE, _user("2"), GENERATE), model)
    assert model.asked[1][1].messages[1] == item


def test_sampling_is_for_the_model_that_is_evaluated_only(told, solve):
    model = told("a", simulator=["u"])
    solve(_settings(_other(), GENERATE, sampling={"temperature": 0.7}), model)
    assert {key: request.sampling for key, request in model.asked} == {
        "simulator": Sampling(),
        None: Sampling(temperature=0.7),
    }


def test_templates_see_the_sample_the_messages_so_far_and_the_loop_index(told, solve):
    model = told("a0", "a1")
    solution = solve(
        _settings(
            _loop(
                _user("{{ loop_index }}/{{ messages | length }}/{{ sample.sample_id }}"),
                GENERATE,
                _user("you said {{ messages[-1].content }}, {{ messages[-1].role }}"),
                max_iterations=2,
            )
        ),
        model,
    )
    assert _texts(solution) == ["0/0/7", "a0", "you said a0, assistant", "1/3/7", "a1", "you said a1, assistant"]


def test_text_is_always_data(told, solve):
    model = told("{{ sample.secret }}", "fine")
    solution = solve(
        _settings(_user("{{ sample.q }}"), GENERATE, _user("{{ messages[1].content }}"), GENERATE),
        model,
        q="{{ 7 * 7 }}",
        secret="s3",
    )
    assert _texts(solution) == ["{{ 7 * 7 }}", "{{ sample.secret }}", "{{ sample.secret }}", "fine"]


def test_outside_of_a_loop_there_is_no_loop_index(told, solve):
    failure = solve(_settings(_user("{{ loop_index }}"), GENERATE), told())
    assert failure.kind == "template"
    assert "loop_index" in failure.detail


def test_a_missing_column_ends_the_conversation_before_anything_else_is_asked(told, solve):
    model = told("a")
    failure = solve(_settings(_user("x"), GENERATE, _user("{{ sample.qq }}"), GENERATE), model, q="?")
    assert (failure.kind, len(model.asked)) == ("missing_field", 1)


class TestTermination:
    def test_a_loop_ends_with_the_message_that_includes_the_text(self, told, solve):
        model = told("one", "two DONE.", "after")
        solution = solve(
            _settings(_loop(_user("go"), {**GENERATE, "terminate_if": _until("DONE")}, _user("more")), GENERATE), model
        )
        assert _texts(solution) == ["go", "one", "more", "go", "two DONE.", "after"]
        assert solution.answer == "after"

    def test_without_keep_iteration_its_messages_are_dropped_and_the_answer_is_an_earlier_one(self, told, solve):
        model = told("one", "two")
        stop = _user("{{ 'STOP' if loop_index == 1 else 'go on' }}", terminate_if=_until("STOP", keep_iteration=False))
        solution = solve(_settings(_user("start"), _loop(GENERATE, stop)), model)
        assert _texts(solution) == ["start", "one", "go on"]
        assert solution.answer == "one"

    def test_outside_of_loops_it_ends_the_conversation(self, told, solve):
        model = told("I am DONE")
        solution = solve(
            _settings(_user("x"), {**GENERATE, "terminate_if": _until("DONE")}, _user("y"), GENERATE), model
        )
        assert _texts(solution) == ["x", "I am DONE"]

    def test_outside_of_loops_only_the_last_message_can_be_dropped(self, told, solve):
        model = told("first", simulator=["bye DONE"])
        rule = _until("DONE", keep_iteration=False)
        solution = solve(_settings(_user("x"), GENERATE, _other(terminate_if=rule), GENERATE), model)
        assert _texts(solution) == ["x", "first"]
        assert solution.answer == "first"

    def test_when_every_reply_is_dropped_there_is_no_answer(self, told, solve):
        rule = _until("DONE", keep_iteration=False)
        failure = solve(_settings(_user("x"), _loop({**GENERATE, "terminate_if": rule})), told("DONE"))
        assert failure == Failure(
            stage="solve", kind="parse", detail="no reply of the model is left in the conversation"
        )

    def test_an_inner_loop_ends_alone(self, told, solve):
        inner = _loop(_user("{{ loop_index }}", terminate_if=_until("1")), max_iterations=5)
        solution = solve(_settings(_loop(inner, GENERATE, max_iterations=2)), told("a", "b"))
        assert _texts(solution) == ["0", "1", "a", "0", "1", "b"]

    def test_the_text_to_look_for_may_come_from_the_sample(self, told, solve):
        model = told("is it a dog?", "is it a cat?")
        guess = {**GENERATE, "terminate_if": _until("{{ sample.word }}")}
        assert solve(_settings(_loop(_user("guess"), guess)), model, word="cat").answer == "is it a cat?"

    def test_an_empty_text_to_look_for_is_a_failure_not_an_end(self, told, solve):
        guess = {**GENERATE, "terminate_if": _until("{{ sample.word }}")}
        failure = solve(_settings(_loop(_user("guess"), guess)), told("a"), word="")
        assert (failure.kind, failure.detail) == ("template", "terminate_if: the text to look for is empty")

    def test_case_and_place_matter_as_written(self, told, solve):
        rule = {**GENERATE, "terminate_if": _until("Done.")}
        solution = solve(_settings(_loop(_user("x"), rule)), told("done.", "DONE.", "well, Done.now"))
        assert solution.answer == "well, Done.now"


class TestTheLastIteration:
    RULE = {**GENERATE, "terminate_if": _until("DONE")}  # noqa: RUF012

    def test_a_loop_that_never_ends_is_a_failure_that_says_so(self, told, solve):
        model = told(*"abc")
        failure = solve(_settings(_loop(_user("x"), self.RULE, max_iterations=3)), model)
        assert (failure.stage, failure.kind) == ("solve", "parse")
        assert failure.detail.startswith("the loop did not end within 3 iterations")
        assert len(model.asked) == 3

    def test_ten_iterations_are_the_most_when_nothing_is_said(self, told, solve):
        model = told(*"abcdefghijklm")
        assert isinstance(solve(_settings(_loop(_user("x"), self.RULE)), model), Failure)
        assert len(model.asked) == 10

    def test_it_goes_on_when_told_so(self, told, solve):
        loop = _loop(_user("x"), self.RULE, max_iterations=2, on_max_iterations="continue")
        assert solve(_settings(loop, _user("and?"), GENERATE), told("a", "b", "c")).answer == "c"

    @pytest.mark.parametrize("on_max_iterations", ["error", "continue"])
    def test_a_loop_that_nothing_can_end_always_goes_on(self, told, solve, on_max_iterations):
        loop = _loop(_user("x"), GENERATE, max_iterations=2, on_max_iterations=on_max_iterations)
        assert solve(_settings(loop), told("a", "b")).answer == "b"

    def test_what_ends_an_inner_loop_cannot_end_the_outer_one(self, told, solve):
        loop = _loop(_loop(_user("x", terminate_if=_until("x"))), GENERATE, max_iterations=2)
        assert solve(_settings(loop), told("a", "b")).answer == "b"

    @given(iterations=st.integers(1, 12), end=st.integers(0, 15), keep=st.booleans())
    def test_as_many_rounds_as_it_takes_and_never_more(self, told, solve, iterations, end, keep):
        model = told(*("DONE" if i == end else f"reply {i}" for i in range(20)))
        rule = {**GENERATE, "terminate_if": _until("DONE", keep_iteration=keep)}
        loop = _loop(_user("go"), rule, max_iterations=iterations, on_max_iterations="continue")
        outcome = solve(_settings(loop), model)
        rounds = min(iterations, end + 1)
        assert len(model.asked) == rounds
        kept = rounds if keep or end >= iterations else rounds - 1
        if kept:
            assert len(outcome.trace.items) == 2 * kept
            assert outcome.answer == ("DONE" if kept == end + 1 else f"reply {kept - 1}")
        else:
            assert isinstance(outcome, Failure)


class TestOtherModels:
    def test_only_the_text_of_the_reply_is_kept_as_a_user_message(self, told, solve):
        item = {"type": "message", "role": "assistant", "content": "hello?", "reasoning_content": "I play a user"}
        model = told("hi", simulator=[Reply(text="hello?", items=(item,))])
        solution = solve(_settings(_other(), GENERATE), model)
        assert solution.trace.items[0] == {"type": "message", "role": "user", "content": "hello?"}
        assert solution.answer == "hi"

    def test_it_sees_its_own_instructions_first_then_the_conversation_then_what_is_added(self, told, solve):
        model = told("hi", simulator=["bye"])
        extra = [
            {"role": "system", "content": "You play {{ sample.who }}."},
            {"role": "user", "content": "Turn {{ messages | length }}: say something."},
        ]
        solve(_settings(_user("a"), GENERATE, _other(extra_input_messages=extra)), model, who="a guest")
        assert model.conversations("simulator") == [
            [("system", "You play a guest."), ("user", "a"), ("assistant", "hi"), ("user", "Turn 2: say something.")]
        ]

    def test_it_may_be_kept_from_seeing_the_conversation(self, told, solve):
        model = told("hi", simulator=["bye"])
        extra = [{"role": "user", "content": "Say something."}]
        other = _other(extra_input_messages=extra, include_conversation=False)
        solve(_settings(_user("a"), GENERATE, other), model)
        assert model.conversations("simulator") == [[("user", "Say something.")]]

    def test_it_may_speak_in_another_role_but_its_words_are_never_the_answer(self, told, solve):
        model = told("mine", simulator=["not mine"])
        solution = solve(_settings(_user("a"), GENERATE, _other(output_role="assistant")), model)
        assert [item["role"] for item in solution.trace.items] == ["user", "assistant", "assistant"]
        assert solution.answer == "mine"

    def test_it_can_end_a_loop(self, told, solve):
        model = told("a", "b", "c", simulator=["more", "STOP"])
        solution = solve(_settings(_user("x"), _loop(GENERATE, _other(terminate_if=_until("STOP")))), model)
        assert _texts(solution) == ["x", "a", "more", "b", "STOP"]

    @pytest.mark.parametrize(
        ("reply", "kind"), [(Reply(text=None), "parse"), (Reply(text="", refusal="no"), "refusal")]
    )
    def test_its_failure_fails_the_sample_and_names_it(self, told, solve, reply, kind):
        failure = solve(_settings(_other(), GENERATE), told(simulator=[reply]))
        assert failure.kind == kind
        assert failure.detail.startswith("simulator: ")


@pytest.mark.parametrize(("reply", "kind"), [(Reply(text=None), "parse"), (Reply(text="x", refusal="no"), "refusal")])
def test_a_turn_without_content_ends_the_sample_as_a_failure(told, solve, reply, kind):
    model = told("a", reply, "never")
    failure = solve(_settings(_user("1"), GENERATE, _user("2"), GENERATE, _user("3"), GENERATE), model)
    assert (failure.kind, len(model.asked)) == (kind, 2)


class TestRecordedBeginnings:
    TRACE = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello", "id": "m1"}]  # noqa: RUF012
    LOAD = {"type": "load_trace", "trace_column": "log"}  # noqa: RUF012

    @pytest.mark.parametrize(
        "log", [TRACE, '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]']
    )
    def test_a_conversation_goes_on_from_where_it_was(self, told, solve, log):
        model = told("bye")
        solution = solve(_settings(self.LOAD, _user("and?"), GENERATE), model, log=log)
        assert model.conversations() == [[("user", "hi"), ("assistant", "hello"), ("user", "and?")]]
        assert solution.answer == "bye"

    def test_its_fields_are_kept_and_function_calls_go_along(self, told, solve):
        log = [
            *self.TRACE,
            {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
            {"type": "function_call_output", "call_id": "1", "output": "ok"},
        ]
        model = told("bye")
        solve(_settings(self.LOAD, GENERATE), model, log=log)
        messages = model.asked[0][1].messages
        assert messages[1]["id"] == "m1"
        assert [message["type"] for message in messages] == [
            "message",
            "message",
            "function_call",
            "function_call_output",
        ]

    @pytest.mark.parametrize(
        ("sample", "kind", "words"),
        [
            ({"log": "hello"}, "parse", "expected a conversation"),
            ({"log": None}, "parse", "null"),
            ({"log": [{"text": "x"}]}, "parse", "entry 1"),
            ({"lgo": []}, "missing_field", 'did you mean "lgo"?'),
        ],
    )
    def test_what_is_no_conversation_fails(self, told, solve, sample, kind, words):
        failure = solve(_settings(self.LOAD, GENERATE), told(), **sample)
        assert failure.kind == kind
        assert words in failure.detail
