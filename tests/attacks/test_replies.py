"""Replies are untrusted input: an odd one is a failure of its sample, and every good sample is scored."""

from __future__ import annotations

import contextlib
import json
import re
import socketserver
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from odd_replies import GOOD, ODD, USAGE, http

TASK = """
key: odd
display_name: Odd
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "{{ sample.question }}"}]
    sampling: {temperature: 0, max_tokens: 5}
  scorers: [{type: string_equals, ground_truth: "A"}]
"""
ANSWER = http({**GOOD, "usage": USAGE})


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, replies):
        self.replies, self.asked = replies, Counter()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(socketserver.StreamRequestHandler):
    """Answers one request with raw bytes and hangs up; the question names the reply."""

    timeout = 20

    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            head += line
        length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
        body = json.loads(self.rfile.read(length))
        name = body["messages"][-1]["content"]
        self.server.asked[name] += 1
        with contextlib.suppress(OSError):
            self.wfile.write(self.server.replies.get(name, ANSWER))


@pytest.fixture
def serve(project):
    """A project whose model answers by name of the question; good questions stand between the odd ones."""
    servers = []

    def start(replies, questions, **fields):
        server = Server(replies)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = {"url": f"http://127.0.0.1:{server.server_address[1]}/chat/completions", "model_key": "m"}
        prices = {"input_per_million": 1, "output_per_million": 1}
        model = {"key": "odd", "display_name": "Odd", "prices": prices, "config": config, **fields}
        project.write("model.yaml", json.dumps(model))
        project.write("task.yaml", TASK)
        project.write("data.jsonl", [{"sample_id": q, "question": q} for q in questions])
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


NAMES = list(ODD)
GROUPS = [NAMES[start : start + 30] for start in range(0, len(NAMES), 30)]


def test_there_are_at_least_150_of_them():
    assert len(ODD) >= 150


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_odd_replies_fail_alone_and_nothing_good_is_asked_again(project, serve, names, monkeypatch):
    # retries need not wait here
    monkeypatch.setattr("assay.models.retry.random.uniform", lambda low, high: 0.0)
    good = [f"good {i}" for i in range(len(names))]
    server = serve(ODD, [question for pair in zip(good, names, strict=True) for question in pair])
    outcome = project.assay("run", "task.yaml", "--model", "odd", "--json", "--max-failures", "1", "-q")
    assert outcome.code == 0, outcome.err
    samples = {s["sample_id"]: s for s in project.assay("samples", "latest", "--json", "--limit", "999").lines}
    assert len(samples) == 2 * len(names)
    for question in good:
        assert samples[question]["scores"]["string_equals"]["values"]["is_correct"] == 1.0
        assert server.asked[question] == 1
    assert float(outcome.json["cost_usd"]) >= 0
    paid = Counter(server.asked)
    again = project.assay("run", "task.yaml", "--model", "odd", "--json", "--max-failures", "1", "-q")
    assert again.code == 0, again.err
    scored = {name for name, sample in samples.items() if sample["scores"]}
    assert {name for name in scored if server.asked[name] > paid[name]} == set(), "what was scored is paid for"


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1048576000\r\n\r\n", b"x" * 65_536),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n", None),
    ],
    ids=["an endless body", "a long body", "a gzip bomb"],
)
def test_a_body_of_a_gigabyte_takes_no_memory(project, serve, head, part, monkeypatch):
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = [packer.compress(bytes(1 << 20)) for _ in range(1_000)] if part is None else [part] * 16_000

    def handle(self):
        self.rfile.readline()
        self.wfile.write(head)
        with contextlib.suppress(OSError):
            for piece in bomb:
                self.wfile.write(piece)

    monkeypatch.setattr(Handler, "handle", handle)
    serve({}, ["endless"], max_reply_mb=64)
    outcome, peak_mb = project.peak_mb("run", "task.yaml", "--model", "odd", "--json", "--max-failures", "1", "-q")
    assert outcome.code == 0, outcome.err
    assert outcome.json["failures"] == {"parse": 1}
    assert peak_mb < 500
