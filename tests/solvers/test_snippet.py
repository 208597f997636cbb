from __future__ import annotations

import asyncio
import time

import pytest

from assay.models.client import CallError
from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.pool import Sandbox
from assay.solvers.snippet import PythonSolver, snippet
from assay.types import Failure, Reply, Rows, Solution, Usage

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture
def solve():
    """Let code answer samples, all at once; gives what came of each, in order."""

    def run(body: str, ask, *samples, most_s: float = 1.0, **more):
        source = "import asyncio, os, time\nasync def stuck():\n    while True: pass\n"
        source += "async def run_solver(sample, model, trace):\n"
        source += "".join(f"    {line}\n" for line in body.strip().splitlines())
        settings = PythonSolver.model_validate({"type": "python", "run_solver_snippet": source, **more})

        async def all_of_them(sandbox):
            rows = [Rows(positions=[i], ids=[str(i)], samples=[s]) for i, s in enumerate(samples or [{}])]
            return await asyncio.gather(
                *(snippet(settings, row, ask, sandbox=sandbox) for row in rows), return_exceptions=True
            )

        with Sandbox(limits=CodeLimits(call_s=most_s)) as sandbox:
            return asyncio.run(all_of_them(sandbox))

    return run


CHAT = """
trace.append_system_message("Be kind.")
trace.append_user_message(sample.q)
answer = await model.predict(trace.items)
trace.add_model_response(answer)
trace.append_user_message("Sure?")
trace.add_model_response(await model.predict(trace))
"""


def test_code_leads_a_conversation(solve, told):
    ask = told("four", "yes")
    (solution,) = solve(CHAT, ask, {"q": "2+2?"})
    assert solution.answer == "yes"
    assert [(item["role"], item["content"]) for item in solution.trace.items] == [
        ("system", "Be kind."),
        ("user", "2+2?"),
        ("assistant", "four"),
        ("user", "Sure?"),
        ("assistant", "yes"),
    ]
    assert ask.conversations()[1][-1] == ("user", "Sure?")


@pytest.mark.parametrize(
    ("body", "answer", "roles"),
    [
        ("return (await model.predict('Hi')).text", "x", ["user", "assistant"]),
        ("return await model.predict({'role': 'user', 'content': 'Hi'})", "x", ["user", "assistant"]),
        ("return 'my own'", "my own", []),
        ("from latticeflow.core.dtypes import SolverOutput\nreturn SolverOutput('mine', ['Hi'])", "mine", ["user"]),
        ("trace.append('Hi')\nreturn {'output': 'mine'}", "mine", ["user"]),
        (
            "from latticeflow.core.dtypes import Trace\n"
            "t = Trace()\nt.append('Hi')\nt.add_model_response(await model.predict(t))\nreturn t",
            "x",
            ["user", "assistant"],
        ),
    ],
)
def test_the_answer_is_what_the_function_returns_or_the_last_reply(solve, told, body, answer, roles):
    (solution,) = solve(body, told("x"))
    assert solution.answer == answer
    assert [item["role"] for item in solution.trace.items] == roles


def test_the_answer_of_the_model_can_be_looked_at(solve):
    async def ask(request, model=None):
        return Reply(text="B", finish_reason="stop", usage=Usage(prompt_tokens=3, completion_tokens=1))

    body = (
        "a = await model.predict('?')\nreturn f\"{a.text}{a.items[0].content}{a.raw_output['usage']['prompt_tokens']}\""
    )
    assert solve(body, ask)[0].answer == "BB3"


def test_several_questions_may_be_asked_at_once(solve):
    most = 0
    busy = 0

    async def ask(request, model=None):
        nonlocal most, busy
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.05)
        busy -= 1
        return Reply(text=request.messages[0]["content"].upper())

    body = "both = await asyncio.gather(model.predict('a'), model.predict('b'))\nreturn both[0].text + both[1].text"
    assert solve(body, ask)[0].answer == "AB"
    assert most == 2


def test_the_same_question_again_is_numbered_unless_the_answer_is_not_random(solve, told):
    body = "for _ in range(3): await model.predict('again')\nreturn 'done'"
    ask = told("a", "b", "c")
    solve(body, ask)
    assert [request.occurrence for _, request in ask.asked] == [0, 1, 2]
    ask = told("a", "a", "a")
    solve(body, ask, sampling={"temperature": 0})
    assert [request.occurrence for _, request in ask.asked] == [0, 0, 0]
    assert ask.asked[0][1].sampling.temperature == 0


def test_conversations_do_not_wait_for_each_other(solve):
    async def ask(request, model=None):
        await asyncio.sleep(0.2)
        return Reply(text="x")

    started = time.monotonic()
    solutions = solve("return (await model.predict(str(sample.n))).text", ask, *({"n": n} for n in range(50)))
    assert all(isinstance(solution, Solution) for solution in solutions)
    assert time.monotonic() - started < 5


def test_a_conversation_that_hangs_crashes_or_fails_leaves_the_others_alone(solve):
    async def ask(request, model=None):
        await asyncio.sleep(0.01)
        return Reply(text=request.messages[0]["content"])

    body = """
if sample.n == 1: time.sleep(60)
if sample.n == 2: os._exit(3)
if sample.n == 3: await asyncio.sleep(60)
if sample.n == 4: raise ValueError("four")
if sample.n == 5: await asyncio.gather(stuck())
answer = await model.predict(str(sample.n))
if sample.n == 6: os._exit(4)
return answer.text
"""
    found = solve(body, ask, *({"n": n} for n in range(20)), most_s=0.6)
    failed = {place: each.detail for place, each in enumerate(found) if isinstance(each, Failure)}
    assert sorted(failed) == [1, 2, 3, 4, 5, 6]
    assert failed[1] == failed[3] == "took longer than 0.6 s"
    assert failed[2] == "the code ended its process (exit code 3)"
    assert failed[6] == "the code ended its process (exit code 4)"
    assert failed[4].startswith("ValueError: four\n")
    assert all(each.answer == str(place) for place, each in enumerate(found) if place not in failed)


def test_waiting_for_the_model_is_not_the_codes_time(solve):
    async def ask(request, model=None):
        await asyncio.sleep(1.0)
        return Reply(text="late")

    assert solve("return await model.predict('?')", ask, most_s=0.3)[0].answer == "late"


def test_a_call_that_fails_ends_the_conversation(solve, told):
    body = "try:\n    await model.predict('?')\nexcept BaseException:\n    pass\nreturn 'all is well'"
    (error,) = solve(body, told(Failure(stage="solve", kind="timeout", detail="too late", retryable=True)))
    assert isinstance(error, CallError)
    assert error.failure.retryable


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("pass", "parse", "the conversation has no assistant message"),
        ("await model.predict([])", "code", "got an empty prompt"),
        ("await model.predict([3])", "parse", "neither role nor type"),
        ("await model.predict(3)", "code", "TypeError"),
        ("return 3", "code", "run_solver gave a value of type int"),
        ("await model.predict('?', temperature=1)", "code", "TypeError"),
        ("print('x' * 2_000_000)", "code", "printed more than 1,000,000 characters"),
        ("asyncio.current_task().cancel()\nawait asyncio.sleep(1)", "code", "the conversation cancelled itself"),
    ],
)
def test_what_is_no_answer_is_a_failure_of_the_sample(solve, told, body, kind, words):
    (failure,) = solve(body, told("x", "x"))
    assert (failure.stage, failure.kind) == ("solve", kind)
    assert words in failure.detail


def test_a_refusal_is_no_answer(solve):
    async def ask(request, model=None):
        item = {"type": "message", "role": "assistant", "content": None, "refusal": "I will not."}
        return Reply(text=None, refusal="I will not.", items=(item,))

    (failure,) = solve("trace.add_model_response(await model.predict('?'))", ask)
    assert (failure.kind, failure.detail) == ("refusal", "I will not.")


def test_code_that_cannot_be_loaded_fails_every_sample(solve, told):
    found = solve("return nothing_of_the_kind", told(), {}, {})
    assert all(failure.detail.startswith("NameError") for failure in found)
