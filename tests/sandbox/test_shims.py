"""The classes that snippets meet: fields by attribute and by item, conversations that can be read and added to."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys

import pytest

from assay.sandbox import shims
from assay.sandbox.shims import (
    AssistantMessage,
    FunctionCall,
    FunctionCallOutput,
    ModelResponse,
    RawSample,
    SampleScore,
    SolverOutput,
    SolverTrace,
    UserMessage,
)


@pytest.fixture
def installed():
    before = set(sys.modules)
    shims.install()
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


NAMES = (
    "RawSample SampleScore SolverOutput SolverTrace Trace ModelResponse UserMessage AssistantMessage SystemMessage "
    "FunctionCall FunctionCallOutput"
)


@pytest.mark.parametrize("module", shims.MODULES)
@pytest.mark.parametrize("name", NAMES.split())
def test_the_names_that_snippets_import_are_there(installed, module, name):
    assert isinstance(getattr(importlib.import_module(module), name), type)


def test_a_sample_answers_by_attribute_and_by_item():
    sample = RawSample({"question": "?", "n": 1}, sample_id="7")
    assert (sample.question, sample["n"], sample.sample_id, sample["sample_id"]) == ("?", 1, "7", "7")
    assert dict(sample) == {"question": "?", "n": 1}
    assert sample.get("absent", 3) == 3
    with pytest.raises(KeyError, match="absent"):
        sample["absent"]
    with pytest.raises(AttributeError, match="has no 'absent'; it has question, n"):
        _ = sample.absent


def test_samples_and_messages_can_be_copied():
    sample = RawSample({"a": [1]}, sample_id="7")
    for made in (copy.copy(sample), copy.deepcopy(sample), pickle.loads(pickle.dumps(sample))):
        assert (made, made.sample_id, type(made)) == ({"a": [1]}, "7", RawSample)
    said = copy.deepcopy(UserMessage("Hi"))
    assert (said.role, said.text) == ("user", "Hi")


def test_a_column_named_sample_id_wins():
    assert RawSample({"sample_id": "own"}, sample_id="7").sample_id == "own"


def test_the_output_of_a_solver_is_text_and_a_chat_completion_at_once():
    output = SolverOutput("B").output
    assert output == "B"
    assert output.choices[0].message.content == output["choices"][0]["message"]["content"] == "B"
    assert (output.text, output[0]) == ("B", "B")


def test_an_output_without_a_conversation_has_one_of_its_answer():
    made = SolverOutput("B")
    assert made.trace.get_last_assistant_text() == "B"
    assert made["trace"] is made.trace


ITEMS = [
    {"type": "message", "role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "input_text", "text": "What is "}, {"type": "input_text", "text": "2+2?"}]},
    {"type": "function_call", "name": "add", "arguments": "{}", "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": "4"},
    {"type": "message", "role": "assistant", "content": "4", "extra": True},
    {"type": "reasoning", "summary": []},
]


def test_a_conversation_can_be_read_in_every_way():
    trace = SolverTrace(ITEMS)
    assert [type(each).__name__ for each in trace][:5] == [
        "SystemMessage",
        "UserMessage",
        "FunctionCall",
        "FunctionCallOutput",
        "AssistantMessage",
    ]
    assert trace.get_first_system_prompt() == "Be kind."
    assert trace.get_last_user_text() == "What is 2+2?"
    assert trace.get_last_assistant_text() == "4"
    assert trace.get_function_calls_by_name("add")[0].arguments == "{}"
    assert trace.function_outputs[0].output == "4"
    assert (len(trace.turns), len(trace), trace[0].role, trace["items"][4].extra) == (1, 6, "system", True)
    content = trace.user_messages[0].content
    assert "2+2" in content
    assert str(content) == trace.user_messages[0].text == "What is 2+2?"
    assert {"type": "input_text", "text": "What is "} in content
    with pytest.raises(AttributeError):
        _ = trace.nonsense


def test_a_conversation_can_be_added_to():
    trace = SolverTrace()
    trace.append_system_message("Be kind.")
    trace.append_user_message("Hello")
    trace.append("again")
    trace.extend([{"role": "assistant", "content": "Hi"}, FunctionCall("f", "{}", "1"), FunctionCallOutput("1", "x")])
    trace.add_model_response(ModelResponse("Bye", [{"role": "assistant", "content": "Bye"}]))
    assert [each.get("role", each["type"]) for each in trace.items] == [
        "system",
        "user",
        "user",
        "assistant",
        "function_call",
        "function_call_output",
        "assistant",
    ]
    assert isinstance(trace.items[-1], AssistantMessage)


def test_the_answer_of_a_model():
    answer = ModelResponse("4", [{"role": "assistant", "content": "4"}], raw_output={"id": 1})
    assert (answer.text, answer["text"], str(answer)) == ("4", "4", "4")
    assert answer.choices[0].message.content == "4"
    assert (answer.raw_output["id"], answer.items[0].role) == (1, "assistant")


def test_a_score_looks_in_its_values_then_in_its_metadata():
    score = SampleScore({"a": 1}, {"b": 2})
    assert (score["a"], score["b"], score.a, score.get("c", 9), "b" in score, "c" in score) == (1, 2, 1, 9, True, False)
    assert (score.values, score.scores, score.metadata) == ({"a": 1}, {"a": 1}, {"b": 2})
    assert SampleScore(values={"a": 1}).scores == {"a": 1}
    assert (score["values"], SampleScore().values) == ({"a": 1}, {})
    with pytest.raises(AttributeError, match="the score has no 'c'; it has a, b"):
        _ = score.c


def test_messages_can_be_made_and_changed():
    said = UserMessage("Hello", name="Ann")
    said.content = "Bye"
    assert said == {"type": "message", "role": "user", "content": "Bye", "name": "Ann"}
