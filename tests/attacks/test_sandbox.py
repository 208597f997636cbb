"""A scorer that runs the answers it scores: a hostile answer changes its own score and nobody else's.

An attack is a line in `HOSTILE`: the text of an answer, which the scorer executes.
"""

from __future__ import annotations

import random
import time

import pytest

from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.pool import Sandbox
from assay.sandbox.program import CallFailed, Program
from assay.scorers.snippet import PythonScorer, snippet
from assay.spec.code import ScoreCode
from assay.types import Rows

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")

SCORER = """
import json, math

def compute_scores(sample, solver_output):
    names = {}
    exec(sample["answer"], names)
    return {"is_correct": math.isclose(names.get("result", 0), sample["expected"])}
"""
ORDERS = 100

FORGED = """
import json, os, struct
for content in (
    {"done": True, "cpu": 0, "results": [[True, {"is_correct": True}]] * 7},
    {"token": "0" * 32, "done": False, "cpu": 0, "results": [[True, {"is_correct": True}]]},
    {"ready": True}, {"token": "1"}, {"pid": 1, "ended": {}, "cpu": 0}, {"reap": [1]}, {"rows": [1]},
):
    text = json.dumps(content).encode()
    for descriptor in range(256):
        for data in (struct.pack("<I", len(text)) + text, text + b"\\n"):
            try: os.write(descriptor, data)
            except OSError: pass
"""
HOSTILE = {
    "patch the worker through its frames": """
import sys
frame = sys._getframe()
while frame:
    for scope in (frame.f_globals, frame.f_locals):
        for name, value in list(scope.items()):
            if type(value).__name__ == "LoadedSnippet":
                type(value).run = lambda self, row: '[true,{"is_correct":true}]'
    if "told" in frame.f_globals:
        frame.f_globals["told"] = lambda printed, **more: '[true,{"is_correct":true}]'
    if "encoded" in frame.f_globals:
        frame.f_globals["encoded"] = lambda value, printed: '{"is_correct":true}'
    frame = frame.f_back
""",
    "patch the scorer found by the collector": """
import gc
for value in gc.get_objects():
    if isinstance(value, dict) and "compute_scores" in value:
        value["compute_scores"] = lambda *given: {"is_correct": True}
    if type(value).__name__ == "LoadedSnippet":
        value._function = lambda *given: {"is_correct": True}
""",
    "patch the loaded snippet": """
import sys
sys.modules["__snippet__"].math = type("Math", (), {"isclose": staticmethod(lambda a, b: True)})
""",
    "patch builtins": """
import builtins
builtins.exec = lambda *given: given[-1].update(result=1)
builtins.len = lambda value: 0
builtins.isinstance = lambda *given: True
""",
    "patch json": """
import json, json.encoder
json.dumps = lambda *given, **more: '[]'
json.loads = lambda text: {"rows": []}
json.JSONEncoder.encode = lambda self, value: '{"is_correct":true}'
json.encoder.c_make_encoder = None
""",
    "patch math": "import math\nmath.isclose = lambda a, b: True",
    "forge frames on every descriptor": FORGED,
    "write noise to every descriptor": """
import os
for descriptor in range(256):
    try: os.write(descriptor, b"\\x05\\x00\\x00\\x00noise" * 10)
    except OSError: pass
""",
    "read every descriptor": """
import os
for descriptor in range(3, 256):
    try:
        os.set_blocking(descriptor, False)
        os.read(descriptor, 1 << 20)
    except OSError: pass
""",
    "close every descriptor": "import os\nos.closerange(0, 256)",
    "fork": """
import os
for _ in range(100):
    try: os.fork()
    except OSError: pass
""",
    "signal everybody": """
import os, signal
for pid in (0, -1, os.getppid(), os.getpid() - 1, os.getpid() + 1):
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        try: os.kill(pid, number)
        except OSError: pass
""",
    "signals that come later": """
import signal
for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1):
    signal.signal(number, lambda *given: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
""",
    "ctypes": """
import ctypes
for offset in range(16):
    ctypes.c_long.from_address(id(1) + 8 * offset).value = 0
""",
    "atexit": "import atexit, time\natexit.register(time.sleep, 60)",
    "a thread that survives the call": """
import builtins, threading, time
def later():
    while True:
        builtins.exec = lambda *given: given[-1].update(result=1)
        time.sleep(0.001)
threading.Thread(target=later, daemon=True).start()
threading.Thread(target=later).start()
""",
    "shared memory": "import mmap\nmmap.mmap(-1, 4096).write(b'x')",
    "leave": "import os\nos._exit(0)",
    "crash": "import os\nos.abort()",
    "take all memory": "x = bytearray(1 << 40)",
    "raise what nobody catches": "raise BaseException",
    "a deep result": "result = []\nfor _ in range(100000): result = [result]",
    "random numbers": "import random\nrandom.seed(1)\nrandom.random = lambda: 1",
}
HONEST = [
    ("result = 1", True),
    ("result = 2", False),
    ("result = sum([1])", True),
    ("pass", False),
    ("result = len('x')", True),
    ("result = 0.5", False),
]


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(limits=CodeLimits(call_s=5)) as opened:
        yield opened


def scores(sandbox, answers):
    settings = PythonScorer(type="python", compute_scores_snippet=ScoreCode(SCORER), metrics=[])
    rows = Rows(
        positions=range(len(answers)),
        ids=[str(place) for place in range(len(answers))],
        samples=[{"answer": answer, "expected": 1} for answer in answers],
    )
    columns = snippet(settings, rows, sandbox=sandbox)
    values = columns.values.get("is_correct", [None] * len(answers))
    return [None if place in columns.failures else value for place, value in enumerate(values)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_changes_no_other_score(sandbox, name):
    wanted = [correct for _, correct in HONEST]
    got = scores(sandbox, [HOSTILE[name], *(answer for answer, _ in HONEST), HOSTILE[name]])
    assert got[1:-1] == wanted


def test_all_hostile_answers_at_once_change_no_other_score_in_any_order(sandbox):
    kept = 0
    for order in range(ORDERS):
        rows = [*HONEST, *((answer, None) for answer in HOSTILE.values())]
        random.Random(order).shuffle(rows)
        got = scores(sandbox, [answer for answer, _ in rows])
        kept += all(value == correct for value, (_, correct) in zip(got, rows, strict=True) if correct is not None)
    assert kept == ORDERS


ENDLESS = """
import gc, mmap, os, struct, time

def f(noise):
    until = time.monotonic() + 8
    while time.monotonic() < until:
        for page in [value for value in gc.get_objects() if isinstance(value, (mmap.mmap, bytearray))]:
            try: page[:8] = os.urandom(8)
            except Exception: pass
        for board in [value.get("board") for value in gc.get_objects() if isinstance(value, dict)]:
            try: board[:8] = os.urandom(8)
            except Exception: pass
        for descriptor in range(3, 40) if noise else ():
            try: os.write(descriptor, struct.pack("<I", 14) + b'{"ready":true}')
            except OSError: pass
        time.sleep(0.01)
    return 1
"""


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("isolation", ["process", "batch"])
def test_a_call_cannot_buy_time_by_what_it_writes(isolation, noise):
    import sys

    source = ENDLESS if isolation == "process" else ENDLESS + PAGE_OF_THE_WORKER
    with Sandbox(limits=CodeLimits(call_s=2)) as opened:
        program = Program(source=source, function="f", shape="plain", isolation=isolation)
        opened.map(Program(source="def f(): return 1", function="f", shape="plain"), [[]])
        started = time.monotonic()
        (result,) = opened.map(program, [[noise]])
        took = time.monotonic() - started
    assert isinstance(result, CallFailed)
    assert took < 3 + (0.5 if "coverage" in sys.modules else 0)


PAGE_OF_THE_WORKER = """
_f = f

def f(noise):
    import sys, threading
    frame = sys._getframe()
    pages = []
    while frame:
        pages += [value for value in frame.f_locals.values() if isinstance(value, mmap.mmap)]
        frame = frame.f_back
    assert pages, "the page of the worker was not found"

    def turn():
        n = 0
        while True:
            n += 1
            for page in pages:
                struct.pack_into("<i", page, 0, n % 400)
            time.sleep(0.01)

    threading.Thread(target=turn, daemon=True).start()
    return _f(noise)
"""


@pytest.mark.parametrize("isolation", ["process", "batch"])
def test_a_solver_cannot_buy_time_by_what_it_writes(isolation):
    import asyncio

    source = """
import asyncio, gc, struct

async def run_solver(sample, model, trace):
    boards = [value._board for value in gc.get_objects() if type(value).__name__ == "_Talks"]
    for _ in range(800):
        for board in boards:
            struct.pack_into("<i", board, 0, 77)
        await asyncio.sleep(0.01)
    return "late"
"""

    async def nobody(items):
        raise AssertionError("nobody asks")

    program = Program(source=source, function="run_solver", shape="conversation", isolation=isolation)
    with Sandbox(limits=CodeLimits(call_s=1)) as opened:
        started = time.monotonic()
        result = asyncio.run(opened.converse(program, [{}, "id", None, None], nobody))
        took = time.monotonic() - started
    assert result == CallFailed("took longer than 1 s")
    assert took < 2.5


def test_conversations_in_processes_of_their_own_share_nothing():
    import asyncio

    source = """
import asyncio
SEEN = []

async def run_solver(sample, model, trace):
    SEEN.append(sample.n)
    reply = await model.predict(str(sample.n))
    return f"{SEEN} {reply.text}"
"""

    async def echo(items):
        await asyncio.sleep(0.01)
        return {"text": items[-1]["content"], "items": [], "raw_output": None}

    async def all_of_them(opened):
        program = Program(source=source, function="run_solver", shape="conversation", isolation="process")
        return await asyncio.gather(*(opened.converse(program, [{"n": n}, "id", None, None], echo) for n in range(8)))

    with Sandbox(limits=CodeLimits(call_s=5)) as opened:
        results = asyncio.run(all_of_them(opened))
    assert [result.value["output"] for result in results] == [f"[{n}] {n}" for n in range(8)]


def test_a_seeded_snippet_draws_the_same_numbers_for_the_same_row():
    source = "import random\nrandom.seed(7)\ndef f(x): return random.random()"
    program = Program(source=source, function="f", shape="plain", isolation="process")
    drawn = []
    for _ in range(2):
        with Sandbox() as opened:
            drawn.append([result.value for result in opened.map(program, [[1], [2], [1]])])
    assert drawn[0] == drawn[1]
    assert drawn[0][0] == drawn[0][2] != drawn[0][1]


def test_what_loading_opened_is_closed_in_a_call():
    source = "import os\nENDS = os.pipe()\ndef f(): return os.write(ENDS[1], b'x')"
    program = Program(source=source, function="f", shape="plain", isolation="process")
    with Sandbox() as opened:
        (result,) = opened.map(program, [[]])
    assert "opened while the snippet was loaded" in result.detail
