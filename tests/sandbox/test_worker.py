from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

from assay.sandbox import worker
from assay.sandbox.frames import read_message, write_message
from assay.sandbox.snippet import LoadedSnippet, Printed


def loaded(source: str) -> LoadedSnippet:
    program = {"source": source, "function": "f", "shape": "plain", "file": "x", "line": 1}
    made = LoadedSnippet(program, Printed(), confined=False)
    assert made.load() is None
    return made


def served(rows, source: str = "def f(x): return x") -> tuple[list, bytearray]:
    """What a worker sends for a batch to a parent that hands out tokens, and the board as it leaves it."""
    board = bytearray(worker.STATUS_BYTES)
    to_worker, to_parent = os.pipe(), os.pipe()
    thread = threading.Thread(target=worker.serve, args=(loaded(source), rows, board, to_worker[0], to_parent[1]))
    thread.start()
    sent = []
    while not sent or not sent[-1]["done"]:
        assert read_message(to_parent[0]) == {"ready": True}
        write_message(to_worker[1], b'{"token": "t%d"}' % len(sent))
        sent.append(read_message(to_parent[0]))
        assert sent[-1]["token"] == f"t{len(sent) - 1}"
    thread.join()
    for descriptor in (*to_worker, *to_parent):
        os.close(descriptor)
    return sent, board


def test_a_batch_is_answered_in_one_message_and_the_board_shows_the_last_row():
    (answer,), board = served([[1], ["ä"], [None]])
    assert (answer["done"], answer["results"]) == (True, [[True, 1], [True, "ä"], [True, None]])
    assert struct.unpack_from("<i", board)[0] == 2


def test_results_are_sent_while_a_slow_batch_runs(monkeypatch):
    monkeypatch.setattr(worker, "FLUSH_S", 0)
    sent, _ = served([[1], [2]])
    assert [len(message["results"]) for message in sent] == [1, 1, 0]
    assert [message["done"] for message in sent] == [False, False, True]


def test_a_worker_loads_only_the_standard_library():
    code = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import assay.sandbox.worker, json; "
        "print(json.dumps([m.__file__ for n, m in sys.modules.items() if getattr(m, '__file__', None)]))"
    )
    source = str(Path(worker.__file__).parents[2])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, source], capture_output=True, text=True, check=True)
    foreign = [path for path in json.loads(done.stdout) if "site-packages" in path]
    assert foreign == []


def test_a_worker_answers_until_the_pipe_is_closed(spoken):
    worker = spoken("import sys\ndef f(x):\n    print('saw', x, file=sys.stderr)\n    return x + 1")
    assert worker.broken is None
    for x in (1, 2):
        worker.say({"rows": [[x]]})
        answer = worker.answered()
        assert (answer["done"], answer["results"]) == (True, [[True, x + 1, f"saw {x}\n"]])
        assert answer["cpu"] >= 0


def test_input_and_output_lead_nowhere(spoken):
    worker = spoken(
        "import os\ndef f():\n    os.write(1, b'x'); os.write(2, b'x')\n    return [os.read(0, 9).decode()]"
    )
    worker.say({"rows": [[]]})
    assert worker.answered()["results"] == [[True, [""]]]


def test_a_snippet_that_breaks_while_loading_is_reported(spoken):
    assert spoken("raise ValueError('early')").broken.startswith("ValueError: early")


def test_a_worker_whose_parent_says_nothing_goes(program):
    code = "import os, tempfile; from assay.sandbox.worker import main, STATUS_BYTES\n"
    code += "f = tempfile.TemporaryFile(); f.truncate(STATUS_BYTES); main(os.dup(f.fileno()))"
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, timeout=20)
    assert done.returncode == 0
