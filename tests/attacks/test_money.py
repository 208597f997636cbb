"""`--max-cost` holds whatever the endpoint says about its usage."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

TASK = """
key: money
display_name: Money
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "{{ sample.question }}"}]
    sampling: {temperature: 0%s}
  scorers: [{type: contains, substring: A}]
"""
HONEST = {"prompt_tokens": 5, "completion_tokens": 20}
USAGES = {
    "missing": None,
    "text": {"prompt_tokens": "5", "completion_tokens": "20"},
    "boolean": {"prompt_tokens": True, "completion_tokens": True},
    "negative": {"prompt_tokens": -5, "completion_tokens": -20},
    "2^64": {"prompt_tokens": 2**64, "completion_tokens": 2**64},
    "a list": [1, 2],
    "half of it": {"completion_tokens": 20},
    "infinite": {"prompt_tokens": 1e308, "completion_tokens": 20},
}
LIMIT = 0.05


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.served += 1
        choice = {"message": {"role": "assistant", "content": "A " * 20}, "finish_reason": "stop"}
        document = {"choices": [choice]}
        if self.server.usage is not None:
            document["usage"] = self.server.usage
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


@pytest.fixture
def spend(project):
    """Run 1,000 samples at a limit with the usage that the endpoint states; gives the run and the calls served."""
    servers = []

    def run(usage, *, max_tokens=20, limit=LIMIT):
        server = Server(("127.0.0.1", 0), Model)
        server.usage, server.served = usage, 0
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = {"url": f"http://127.0.0.1:{server.server_port}/chat/completions", "model_key": "m"}
        prices = {"input_per_million": 1, "output_per_million": 20}
        model = {"key": "m", "display_name": "M", "prices": prices, "config": config}
        project.write("model.yaml", json.dumps(model))
        project.write("task.yaml", TASK % (f", max_tokens: {max_tokens}" if max_tokens else ""))
        project.write("data.jsonl", [{"question": f"Question {i}?"} for i in range(1_000)])
        outcome = project.assay(
            "run", "task.yaml", "--model", "m", "--max-cost", str(limit), "--max-concurrency", "100", "--json", "-q"
        )
        assert outcome.code in (0, 3), outcome.err
        return outcome, server.served

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def honest_calls(spend):
    outcome, served = spend(HONEST)
    assert 0.9 * LIMIT < float(outcome.json["cost_usd"]) <= LIMIT
    return served


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_usage_that_is_missing_or_cannot_be_true_is_charged_in_full(spend, honest_calls, usage, project):
    outcome, served = spend(usage)
    assert 0 < float(outcome.json["cost_usd"]) <= LIMIT
    assert served <= 1.05 * honest_calls
    (spent,) = outcome.json["spending"]
    assert spent["n_usage_missing"] == served
    assert f"usage missing in {served:,} replies" in " ".join(project.assay("show", "latest").out.split())


def test_without_max_tokens_the_reservation_follows_what_replies_have_cost(spend):
    # a reply is first taken to cost up to $0.08, later what replies have cost
    outcome, served = spend(HONEST, max_tokens=None, limit=0.2)
    assert 0.9 * 0.2 < float(outcome.json["cost_usd"]) <= 0.2
    assert outcome.json["status"] == "partial"
    assert served < 1_000
