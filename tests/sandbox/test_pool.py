from __future__ import annotations

import os
import threading
import time

import pytest

from assay.errors import RunError
from assay.sandbox import pool, process
from assay.sandbox.linux import CodeLimits
from assay.sandbox.pool import SLICE_ROWS, Sandbox
from assay.sandbox.program import CallFailed, Returned

MOST_LOST = 4


def test_a_row_that_crashes_hangs_or_leaves_fails_alone(sandbox, program):
    source = """
import os, time
def f(x):
    if x == 3: os._exit(1)
    if x == 5: time.sleep(60)
    if x == 7: raise ValueError("seven")
    return x
"""
    results = sandbox.map(program(source), [[x] for x in range(10)])
    assert [r.value for i, r in enumerate(results) if i not in (3, 5, 7)] == [0, 1, 2, 4, 6, 8, 9]
    assert results[3] == CallFailed("the code ended its process (exit code 1)")
    assert results[5] == CallFailed("took longer than 1 s")
    assert results[7].detail.startswith("ValueError: seven")


def test_no_rows_need_no_worker(sandbox, program):
    assert sandbox.map(program("import nothing"), []) == []


def test_workers_are_used_again(sandbox, program):
    same = program("import os\ndef f(): return os.getpid()")
    assert sandbox.map(same, [[]]) == sandbox.map(same, [[]])


def test_every_program_has_workers_of_its_own(sandbox, program):
    changed = program("import math\nmath.tau = 7\ndef f(): return math.tau")
    plain = program("import math\ndef f(): return round(math.tau, 2)")
    assert [sandbox.map(each, [[]])[0].value for each in (changed, plain)] == [7, 6.28]


def test_many_slow_rows_are_shared_by_several_workers(program):
    slow = program("import os, time\ndef f():\n    time.sleep(0.001)\n    return os.getpid()")
    with Sandbox() as opened:
        opened._width = 2
        results = opened.map(slow, [[]] * (3 * SLICE_ROWS))
    assert len({result.value for result in results}) == 2


def test_code_that_always_ends_its_process_is_given_up(sandbox, program, monkeypatch):
    monkeypatch.setattr(pool, "MOST_LOST", MOST_LOST)
    results = sandbox.map(program("import os\ndef f(): os._exit(9)"), [[]] * (MOST_LOST + 5))
    assert {result.detail for result in results[:MOST_LOST]} == {"the code ended its process (exit code 9)"}
    assert results[-1] == CallFailed(f"not run: the code ended its process {MOST_LOST} times in a row")


def test_a_success_in_between_starts_the_count_anew(sandbox, program, monkeypatch):
    monkeypatch.setattr(pool, "MOST_LOST", MOST_LOST)
    source = "import os\ndef f(x):\n    if x % 2: os._exit(9)\n    return x"
    results = sandbox.map(program(source), [[x] for x in range(2 * MOST_LOST + 4)])
    assert sum(isinstance(result, Returned) for result in results) == MOST_LOST + 2


def test_a_snippet_that_hangs_while_loading_fails_every_row_once(sandbox, program, monkeypatch):
    monkeypatch.setattr(process, "LOAD_S", 0.5)
    started = time.monotonic()
    results = sandbox.map(program("while True: pass"), [[1], [2]])
    assert time.monotonic() - started < 10
    assert {result.detail for result in results} == {"took longer than 1 s\n  (while the snippet was loaded)"}


@pytest.mark.parametrize(
    "forged",
    [
        b"abc",
        b'{"done": true, "cpu": 0, "results": []}',
        b'{"done": true, "cpu": 0, "results": 7}',
        b'{"done": false, "cpu": 0, "results": [[true, 1], [true, 1], [true, 1]]}',
        b'{"done": true}',
    ],
)
def test_forged_messages_never_hurt_the_parent(sandbox, program, forged):
    source = f"""
import os, struct
def f(x):
    forged = {forged!r}
    for descriptor in range(3, 12):
        try: os.write(descriptor, struct.pack("<I", len(forged)) + forged)
        except OSError: pass
    os._exit(0)
"""
    assert len(sandbox.map(program(source), [[1], [2]])) == 2


def test_a_message_that_claims_to_be_huge_is_not_waited_for(sandbox, program):
    source = """
import os
def f():
    for descriptor in range(3, 12):
        try: os.write(descriptor, b"\\xff\\xff\\xff\\xff")
        except OSError: pass
    return 1
"""
    assert "is longer than" in sandbox.map(program(source), [[]])[0].detail


@pytest.mark.parametrize("value", ["\ud800", 2**70, {"a": [None, True]}, "ä\u2028"])
def test_any_value_survives_both_ways(sandbox, program, value):
    assert sandbox.map(program("def f(x): return x"), [[value]]) == [Returned(value)]


def test_large_rows_go_over_the_pipe_in_small_groups(program):
    rows = [["x" * 3_000_000]] * 4
    with Sandbox() as opened:
        assert [r.value for r in opened.map(program("def f(x): return len(x)"), rows)] == [3_000_000] * 4
    assert [len(group) for group in pool._groups([b"x" * 3_000_000] * 3)] == [1, 1, 1]
    assert [len(group) for group in pool._groups([b"x"] * 3)] == [3]


def test_one_call_over_everything_may_take_longer(program):
    with Sandbox(limits=CodeLimits(call_s=0.3)) as opened:
        slow = program("import time\ndef f(x):\n    time.sleep(0.6)\n    return x")
        assert opened.call(slow, [1]) == Returned(1)
        assert opened.map(slow, [[1]]) == [CallFailed("took longer than 0.3 s")]


def test_a_worker_that_has_used_much_of_its_time_is_retired(program):
    busy = program("import os, time\ndef f():\n    while time.process_time() < 0.6: pass\n    return os.getpid()")
    with Sandbox(limits=CodeLimits(cpu_s=1)) as opened:
        assert opened.map(busy, [[]]) != opened.map(busy, [[]])


def test_too_much_cpu_ends_the_process(program):
    source = "import threading\ndef spin():\n    while True: pass\ndef f():\n    spin()"
    with Sandbox(limits=CodeLimits(cpu_s=1, call_s=20)) as opened:
        assert opened.map(program(source), [[]])[0].detail.startswith("the code's process was killed: it used 1 s")


def test_workers_outlive_the_thread_that_first_wanted_them(sandbox, program):
    """The kernel ends a worker with the thread that started it."""
    same = program("import os\ndef f(x): return os.getpid()")
    found = []
    thread = threading.Thread(target=lambda: found.extend(sandbox.map(same, [[1]])))
    thread.start()
    thread.join()
    time.sleep(0.1)
    assert sandbox.map(same, [[1]]) == found


def test_nothing_is_left_running_when_the_sandbox_is_closed(program):
    with Sandbox() as opened:
        (result,) = opened.map(program("import os\ndef f(): return os.getpid()"), [[]])
        os.kill(result.value, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(result.value, 0)


def test_trusted_code_runs_unconfined_and_still_within_limits(program, tmp_path):
    (tmp_path / "data").write_text("seen")
    with Sandbox(limits=CodeLimits(call_s=1), trusted=True) as opened:
        source = "import os\ndef f(path): return [open(path).read(), sorted(os.environ)]"
        value = opened.map(program(source), [[str(tmp_path / "data")]])[0].value
        assert value[0] == "seen"
        assert "PATH" not in value[1]
        assert opened.map(program("def f():\n    while True: pass"), [[]]) == [CallFailed("took longer than 1 s")]


def test_a_worker_that_cannot_confine_itself_runs_nothing(program, monkeypatch):
    boot = process._BOOT.replace("main(", "import assay.sandbox.linux as l; l._landlock_version = lambda: -1; main(")
    monkeypatch.setattr(process, "_BOOT", boot)
    with Sandbox() as opened, pytest.raises(RunError, match="cannot be confined here: Landlock.*--trust-code"):
        opened.map(program("def f(): return 1"), [[]])


def test_an_interpreter_that_does_not_start_is_an_error_of_the_run(program, monkeypatch):
    monkeypatch.setattr(process, "_BOOT", "raise SystemExit(4)")
    with Sandbox() as opened, pytest.raises(RunError, match=r"did not start: .*exit code 4"):
        opened.map(program("def f(): return 1"), [[]])


def test_a_network_is_there_only_for_programs_that_ask_for_it(sandbox, program):
    source = """
import socket
def f(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        return connection.recv(5).decode()
"""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            connection.sendall(b"hello")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        port = server.getsockname()[1]
        assert sandbox.map(program(source), [[port]])[0].detail.startswith("PermissionError")
        assert sandbox.map(program(source, network=True), [[port]]) == [Returned("hello")]
        thread.join()
