"""Two callables that could answer differently never share replies."""

from __future__ import annotations

import functools
import threading

import pytest

from assay.models.callable_identity import callable_identity
from assay.models.python_function import connect_callable

SETTING = {"answer": "a"}


def _closure(answer):
    def model(messages, **parameters):
        return answer

    return model


def _default(answer):
    def model(messages, answer=answer):
        return answer

    return model


class Model:
    def __init__(self, answer):
        self.answer = answer

    def __call__(self, messages, **parameters):
        return self.answer

    def method(self, messages, **parameters):
        return self.answer


def _reads_a_global(messages, **parameters):
    return SETTING["answer"]


def _calls_another(answer):
    def helper():
        return answer

    def model(messages, **parameters):
        return helper()

    return model


def _with_argument(messages, answer, **parameters):
    return answer


MAKERS = {
    "closure cell": _closure,
    "default argument": _default,
    "attribute of an object": Model,
    "object of a method": lambda answer: Model(answer).method,
    "argument of a partial": lambda answer: functools.partial(_with_argument, answer=answer),
    "closure of a helper": _calls_another,
    "nested data": lambda answer: _closure({"list": [1, (answer, {2, 3})]}),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_an_answer_depends_on_is_part_of_the_identity(make):
    assert callable_identity(make("a")) == callable_identity(make("a"))
    assert callable_identity(make("a")) != callable_identity(make("b"))
    assert callable_identity(make("a")).unknown is None


def test_a_global_that_a_function_reads_is_part_of_its_identity(monkeypatch):
    first = callable_identity(_reads_a_global)
    monkeypatch.setitem(SETTING, "answer", "b")
    assert callable_identity(_reads_a_global) != first


def test_state_that_cannot_be_read_is_good_for_one_object_only():
    locked = [_closure(threading.Lock()) for _ in range(2)]
    first, second = map(callable_identity, locked)
    assert first.unknown == "answer (_thread.lock)"
    assert first.digest != second.digest
    assert callable_identity(locked[0]) == first, "the same object in the same process"
    (note,) = connect_callable(locked[0]).notes
    assert "__assay_version__" in note


def test_a_version_vouches_for_a_callable():
    first, second = _closure(threading.Lock()), _closure(threading.Lock())
    first.__assay_version__ = second.__assay_version__ = "1"
    assert callable_identity(first) == callable_identity(second)
    second.__assay_version__ = "2"
    assert callable_identity(first) != callable_identity(second)


def test_things_that_hold_themselves_have_an_end():
    loop = []
    loop.append(loop)
    assert callable_identity(_closure(loop)).unknown is None


def test_the_second_model_never_gets_the_answers_of_the_first(project, monkeypatch):
    import assay

    monkeypatch.chdir(project.folder)
    task = project.write(
        "task.yaml",
        """
key: t
display_name: t
definition:
  dataset: {source: {type: inline_samples, samples: [{q: x, answer: a}]}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.q }}"}]}
  scorers: [{type: string_equals, ground_truth: "{{ sample.answer }}"}]
""",
    )
    for name in ("closure cell", "default argument", "attribute of an object", "argument of a partial"):
        models = [MAKERS[name](answer) for answer in "ab"]
        assert [assay.run(task, model=model).metrics["accuracy"].value for model in models] == [1.0, 0.0], name
