"""Conversations between a worker and its parent, below the solver."""

from __future__ import annotations

import asyncio

import pytest

from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program, Returned

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")

HEAD = "import asyncio, os, struct, threading, time\n"


@pytest.fixture
def converse():
    def run(source: str, *rows, answer=None, shape="conversation", function="run_solver", most_s=1.0):
        program = Program(source=HEAD + source, function=function, shape=shape)

        async def silent(items):
            raise AssertionError("nobody should ask")

        async def all_of_them(sandbox):
            talks = (sandbox.converse(program, row, answer or silent) for row in rows)
            return await asyncio.gather(*talks, return_exceptions=True)

        with Sandbox(limits=CodeLimits(call_s=most_s)) as sandbox:
            return asyncio.run(all_of_them(sandbox))

    return run


def row(**sample):
    return [sample, "id", None, None]


async def echo(items):
    text = items[-1]["content"]
    return {"text": text, "items": [{"role": "assistant", "content": text}], "raw_output": None}


def test_a_conversation_without_questions_ends_by_itself(converse):
    assert converse("async def run_solver(sample, model, trace): return sample.x", row(x="done")) == [
        Returned({"output": "done", "trace": []})
    ]


def test_what_each_conversation_prints_stays_with_it(converse):
    source = """
async def run_solver(sample, model, trace):
    for part in range(3):
        print(sample.n, end=" ")
        await asyncio.sleep(0.01)
    return "x"
"""
    found = converse(source, *(row(n=n) for n in range(4)))
    assert [result.printed for result in found] == [f"{n} {n} {n} " for n in range(4)]


def test_many_conversations_survive_many_crashes_of_others(converse):
    source = """
async def run_solver(sample, model, trace):
    answer = await model.predict(str(sample.n))
    if sample.n % 5 == 0: os._exit(1)
    return answer.text
"""
    found = converse(source, *(row(n=n) for n in range(30)), answer=echo)
    broken = [place for place, result in enumerate(found) if isinstance(result, CallFailed)]
    assert broken == [0, 5, 10, 15, 20, 25]
    assert all(found[n].value["output"] == str(n) for n in range(30) if n not in broken)


def test_a_process_that_goes_for_no_known_reason_is_tried_a_few_times(converse):
    source = """
def leave():
    time.sleep(0.05)
    os._exit(7)
async def run_solver(sample, model, trace):
    threading.Thread(target=leave).start()
    await asyncio.sleep(60)
"""
    found = converse(source, row(), row(), most_s=10)
    assert all("exit code 7" in result.detail for result in found)


@pytest.mark.parametrize(
    "forged", [b"abc", b"[]", b'{"end": 99}', b'{"ask": 1, "number": 1}', b'{"end": 1, "result": 3}']
)
def test_forged_messages_never_hurt_the_parent(converse, forged):
    source = f"""
async def run_solver(sample, model, trace):
    forged = {forged!r}
    for descriptor in range(3, 12):
        try: os.write(descriptor, struct.pack("<I", len(forged)) + forged)
        except OSError: pass
    await asyncio.sleep(0.2)
    return "x"
"""
    (found,) = converse(source, row(), answer=echo)
    assert isinstance(found, Returned | CallFailed)


def test_code_that_cannot_be_loaded_breaks_every_conversation(converse):
    found = converse("raise ValueError('early')", row(), row())
    assert all(result.detail.startswith("ValueError: early") for result in found)


def test_a_conversation_that_is_given_up_is_cancelled_in_its_worker(converse):
    source = """
async def run_solver(sample, model, trace):
    if sample.n: return str(SEEN)
    try: await model.predict("?")
    except asyncio.CancelledError: SEEN.append("cancelled"); raise
SEEN = []
"""

    async def main():
        program = Program(source=HEAD + source, function="run_solver", shape="conversation")
        with Sandbox(limits=CodeLimits(call_s=5)) as sandbox:
            waiting = asyncio.Event()

            async def never(items):
                waiting.set()
                await asyncio.sleep(60)

            task = asyncio.create_task(sandbox.converse(program, row(n=0), never))
            await waiting.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.sleep(0.1)
            return await sandbox.converse(program, row(n=1), never)

    assert asyncio.run(main()).value["output"] == "['cancelled']"


def test_questions_and_answers_of_megabytes_cross_the_pipe(converse):
    source = "async def run_solver(sample, model, trace): return str(len((await model.predict('x' * 3_000_000)).text))"
    assert converse(source, row(), row(), answer=echo, most_s=10)[0].value["output"] == "3000000"


def test_a_closed_sandbox_runs_nothing():
    with Sandbox() as sandbox:
        pass
    program = Program(source="def f(): return 1", function="f", shape="plain")
    assert sandbox.map(program, [[]]) == [CallFailed("not run: the run is over")]
