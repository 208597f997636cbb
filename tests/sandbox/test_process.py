"""One worker as its parent sees it."""

from __future__ import annotations

import os
import signal

import pytest

from assay.errors import RunError
from assay.sandbox import process
from assay.sandbox.linux import CodeLimits, unsupported
from assay.sandbox.process import Worker, WorkerLost, result_of
from assay.sandbox.program import CallFailed, Returned

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")


@pytest.fixture
def worker(program):
    made = []

    def start(source: str, **limits) -> Worker:
        made.append(Worker(program(source), CodeLimits(call_s=1.0, **limits), trusted=False))
        made[-1].start()
        return made[-1]

    yield start
    for each in made:
        each.end()


def test_results_come_in_the_order_of_the_rows(worker):
    found = []
    worker("def f(x): return x").call([b"[1]", b"[2]", b"[3]"], found.extend, most_s=1)
    assert found == [Returned(1), Returned(2), Returned(3)]


def test_a_lost_worker_says_which_row_it_was_running(worker):
    found = []
    with pytest.raises(WorkerLost) as lost:
        worker("import os\ndef f(x):\n    if x == 2: os.kill(os.getpid(), 6)\n    return x").call(
            [b"[0]", b"[1]", b"[2]", b"[3]"], found.extend, most_s=1
        )
    assert (lost.value.row, str(lost.value)) == (2, "the code crashed its process (SIGABRT)")


def test_a_worker_that_is_killed_from_outside_is_noticed_when_it_is_written_to(worker):
    made = worker("def f(x): return x")
    made.process.send_signal(signal.SIGKILL)
    made.process.wait()
    with pytest.raises(WorkerLost, match="was killed"):
        made.call([b'["' + b"x" * 1_000_000 + b'"]'], lambda some: None, most_s=1)


def test_code_that_closes_the_pipe_is_lost_as_well(worker):
    source = "import os, time\ndef f():\n    os.closerange(3, 50)\n    time.sleep(60)"
    with pytest.raises(WorkerLost, match="closed the pipe|took longer"):
        worker(source).call([b"[]"], lambda some: None, most_s=3)


def test_cpu_time_is_reported(worker):
    made = worker("def f(): return sum(range(3_000_000))")
    made.call([b"[]"], lambda some: None, most_s=5)
    assert made.cpu_s > 0.01


def test_what_the_worker_tells_is_made_storable():
    assert result_of([True, {"a": 1}]) == Returned({"a": 1})
    assert result_of([True, 1, "printed"]) == Returned(1, "printed")
    assert result_of([False, "why \ud800"]) == CallFailed("why \\ud800")
    assert result_of([False, "why", "x" * 900]) == CallFailed("why\n  printed: " + "x" * 500)


@pytest.mark.parametrize("entry", [[], [True], 7, None])
def test_what_is_no_result_is_an_error(entry):
    with pytest.raises((ValueError, TypeError)):
        result_of(entry)


def test_other_systems_get_one_clear_sentence(program, monkeypatch):
    monkeypatch.setattr(process.os, "name", "nt")
    with pytest.raises(RunError, match="needs Linux or macOS"):
        Worker(program("x"), CodeLimits(), trusted=True)


def test_ending_twice_is_fine(worker):
    made = worker("def f(): return 1")
    made.end()
    made.end()
    with pytest.raises(ProcessLookupError):
        os.kill(made.process.pid, 0)
