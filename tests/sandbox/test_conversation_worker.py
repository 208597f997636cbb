"""What a worker that holds conversations says and understands, message by message."""

from __future__ import annotations

import pytest

HEAD = "import asyncio, sys\nfrom latticeflow.core.dtypes import SolverOutput, Trace\n"
REPLY = {"text": "four", "items": [{"role": "assistant", "content": "four"}], "raw_output": {"id": 1}}


@pytest.fixture
def talk(spoken):
    """A worker with a solver of this body, and a conversation begun in it."""

    def start(body: str, *, shape="conversation", head="async def run_solver(sample, model, trace):", row=None):
        source = HEAD + head + "\n" + "".join(f"    {line}\n" for line in body.splitlines())
        name = "run_inference" if shape == "inference" else "run_solver"
        worker = spoken(source, shape=shape, function=name)
        assert worker.broken is None
        worker.say({"start": 1, "row": [{"q": "2+2?"}, "7", None, None] if row is None else row})
        return worker

    return start


def test_a_question_goes_out_and_its_answer_comes_in(talk):
    worker = talk("trace.append_user_message(sample.q)\ntrace.add_model_response(await model.predict(trace))")
    question = worker.hear()
    assert question == {"ask": 1, "number": 1, "items": [{"type": "message", "role": "user", "content": "2+2?"}]}
    worker.say({"answer": 1, "number": 1, "reply": REPLY})
    (done, made) = worker.hear()["result"]
    assert done
    assert made["output"] is None
    assert [item["content"] for item in made["trace"]] == ["2+2?", "four"]


def test_answers_may_come_in_any_order_and_strays_are_ignored(talk):
    worker = talk(
        "a, b = await asyncio.gather(model.predict('a'), model.predict('b'))\n"
        "return f'{a.text} {b.text} {a.raw_output[\"id\"]}'"
    )
    assert [worker.hear()["number"] for _ in range(2)] == [1, 2]
    worker.say({"answer": 9, "number": 1, "reply": REPLY})
    worker.say({"answer": 1, "number": 7, "reply": REPLY})
    worker.say({"answer": 1, "number": 2, "reply": {**REPLY, "text": "B"}})
    worker.say({"answer": 1, "number": 1, "reply": {**REPLY, "text": "A"}})
    assert worker.hear()["result"][1]["output"] == "A B 1"


@pytest.mark.parametrize(
    ("body", "output", "trace"),
    [
        ("return 'mine'", "mine", 0),
        ("return SolverOutput('mine', ['Hi'])", "mine", 1),
        ("trace.append('Hi')\nreturn SolverOutput('mine')", "mine", 1),
        ("return {'output': 'mine', 'trace': ['Hi', 'you']}", "mine", 2),
        ("return Trace(['Hi'])", None, 1),
        ("trace.append('Hi')", None, 1),
    ],
)
def test_a_solver_may_say_what_it_made_in_many_ways(talk, body, output, trace):
    done, made = talk(body).hear()["result"]
    assert done
    assert (made["output"], len(made["trace"])) == (output, trace)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no')", "ValueError: no"),
        ("return 7", "run_solver gave a value of type int"),
        ("return {'answer': 1}", "run_solver gave a value of type dict"),
        ("return SolverOutput(object())", "mine"),
        ("asyncio.current_task().cancel()\nawait asyncio.sleep(1)", "the conversation cancelled itself"),
    ],
)
def test_what_goes_wrong_is_told(talk, body, words):
    done, detail, *_ = talk(body).hear()["result"]
    if words == "mine":  # what is no text becomes one
        assert done
        return
    assert not done
    assert words in detail


def test_a_cancelled_conversation_says_nothing_more(talk):
    worker = talk("await model.predict('?')\nreturn 'late'")
    worker.hear()
    worker.say({"cancel": 1})
    worker.say({"cancel": 1})
    worker.say({"start": 2, "row": [{"q": ""}, "8", None, None]})
    assert worker.hear()["ask"] == 2
    worker.say({"answer": 2, "number": 1, "reply": REPLY})
    assert worker.hear()["end"] == 2


def test_prints_are_those_of_the_conversation(talk):
    worker = talk("print('own', file=sys.stderr)\nprint('more')\nreturn 'x'")
    assert worker.hear()["result"][2] == "own\nmore\n"


@pytest.mark.parametrize("head", ["def run_inference(body, environment):", "async def run_inference(*all):"])
def test_inference_is_called_with_what_the_row_holds(talk, head):
    body = "print('seen')\nreturn {'n': 1}"
    worker = talk(body, shape="inference", head=head, row=[{"messages": []}, {"A": "b"}, None])
    assert worker.hear() == {"end": 1, "result": [True, {"n": 1}, "seen\n"]}


def test_inference_that_fails_says_why(talk):
    worker = talk("return body['nothing']", shape="inference", head="def run_inference(body):", row=[{}, {}, None])
    done, detail = worker.hear()["result"]
    assert not done
    assert detail.startswith("KeyError: 'nothing'\n  <snippet>:4 in run_inference")
