from __future__ import annotations

import asyncio
import threading

import pytest

from assay.models.client import CallError
from assay.models.python_function import connect_callable
from assay.types import Failure, Reply, Request, Sampling, Usage

ASKED = Request(messages=({"role": "user", "content": "hi"},), sampling=Sampling(temperature=0.5, max_tokens=3))


def asked(function, request: Request = ASKED) -> Reply:
    return asyncio.run(connect_callable(function).client.ask(request))


def test_a_function_gets_the_messages_and_the_parameters_that_are_set():
    seen = []

    def model(messages, **parameters):
        seen.append((messages, parameters, threading.current_thread() is threading.main_thread()))
        return "said"

    reply = asked(model)
    assert seen == [([{"role": "user", "content": "hi"}], {"temperature": 0.5, "max_tokens": 3}, False)]
    assert (reply.text, reply.finish_reason) == ("said", "stop")
    assert reply.items == ({"type": "message", "role": "assistant", "content": "said"},)


def test_a_coroutine_and_an_object_with_an_async_call_are_awaited():
    async def model(messages, **parameters):
        await asyncio.sleep(0)
        return messages[-1]["content"]

    class Model:
        async def __call__(self, messages, **parameters):
            return "object"

    assert asked(model).text == "hi"
    assert asked(Model()).text == "object"


def test_a_schema_and_a_body_are_handed_over():
    def model(messages, schema=None):
        return {"content": f"{messages} {schema}"}

    assert asked(model, Request(body={"x": 1}, schema={"a": 1})).text == "{'x': 1} {'a': 1}"


@pytest.mark.parametrize(
    ("said", "text", "usage"),
    [
        (
            {"content": "a", "usage": {"prompt_tokens": 2, "completion_tokens": 3}},
            "a",
            Usage(prompt_tokens=2, completion_tokens=3),
        ),
        ({"choices": [{"message": {"content": "b"}, "finish_reason": "stop"}]}, "b", Usage()),
        (None, None, Usage()),
        ({"content": None, "refusal": "no"}, None, Usage()),
    ],
)
def test_a_function_may_return_text_a_message_or_a_completion(said, text, usage):
    reply = asked(lambda messages, **parameters: said)
    assert (reply.text, reply.usage) == (text, usage)
    assert reply.finish_reason == "stop"


def test_log_probabilities_beside_a_message_are_kept():
    assert asked(lambda messages, **parameters: {"content": "a", "logprobs": [1]}).logprobs == [1]


def test_whatever_a_function_raises_is_a_failure_of_the_sample():
    def model(messages, **parameters):
        raise KeyError("gone")

    with pytest.raises(CallError, match="raised KeyError: 'gone'") as caught:
        asked(model)
    assert (caught.value.failure.kind, caught.value.failure.retryable) == ("code", False)


def test_a_function_may_say_that_a_retry_helps():
    def model(messages, **parameters):
        raise CallError(Failure(stage="solve", kind="timeout", detail="slow", retryable=True))

    with pytest.raises(CallError, match="slow") as caught:
        asked(model)
    assert caught.value.failure.retryable


def test_a_wrong_return_value_is_a_failure():
    with pytest.raises(CallError, match="returned int"):
        asked(lambda messages, **parameters: 3)


def test_name_and_source_decide_the_identity():
    def model(messages, **parameters):
        return "a"

    first = connect_callable(model)

    def model(messages, **parameters):
        return "b"

    second = connect_callable(model)
    assert first.name == second.name
    assert first.name.endswith("test_name_and_source_decide_the_identity.<locals>.model")
    assert first.identity != second.identity


def test_a_function_without_source_is_known_by_its_code():
    spaces = [{}, {}]
    for space, text in zip(spaces, ("a", "b"), strict=True):
        exec(f"def model(messages):\n    return '{text}'", space)
        space["model"].__module__ = "session"
    first, second = (connect_callable(space["model"]) for space in spaces)
    assert first.name == second.name
    assert first.identity != second.identity
    assert connect_callable(len).identity["model"] == "builtins.len"
