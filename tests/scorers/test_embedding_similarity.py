"""`embedding_similarity` and models with `task: embeddings`, over HTTP."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

TASK = """
key: close
display_name: Close
definition:
  dataset: {{source: {{type: local, file_path: data.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: reply}}
  scorers: [{{type: embedding_similarity, model_key: {model}, ground_truth: "{{{{ sample.answer }}}}"}}]
"""


def _vector(text):
    """Counts of letters: an embedding that can be computed by hand. An exclamation mark turns it around."""
    sign = -1 if text.endswith("!") else 1
    return [sign * Counter(text)[letter] for letter in "abc"]


class Embedder(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        vector = self.server.reply or _vector(body["input"])
        document = {"data": [{"embedding": vector}], "usage": {"prompt_tokens": 7}}
        answer = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def embedder():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embedder)
    server.asked, server.reply = [], None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


PAIRS = [("abc", "abc"), ("aab", "ab"), ("a", "b"), ("ab", "ab!")]


@pytest.fixture
def close(project, embedder):
    def write(pairs, model="embedder", **fields):
        url = f"http://127.0.0.1:{embedder.server_port}/v1/embeddings"
        file = {"key": "embedder", "display_name": "E", "task": "embeddings", "config": {"url": url, "model_key": "e"}}
        project.write("embedder.yaml", json.dumps({**file, **fields}))
        project.write("data.jsonl", [{"reply": reply, "answer": answer} for reply, answer in pairs])
        project.write("task.yaml", TASK.format(model=model))
        return project

    return write


def _cosine(one, other):
    a, b = np.array(_vector(one)), np.array(_vector(other))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_the_score_is_the_cosine_and_never_below_zero(close, embedder):
    project = close(PAIRS)
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 0, outcome.err
    scores = [sample["scores"]["embedding_similarity"] for sample in project.assay("samples", "latest", "--json").lines]
    expected = [_cosine(*pair) for pair in PAIRS]
    assert [score["metadata"]["cosine"] for score in scores] == pytest.approx(expected)
    assert [score["values"]["score"] for score in scores] == pytest.approx([max(0.0, value) for value in expected])
    assert embedder.asked[0][0] == "/v1/embeddings"
    assert set(embedder.asked[0][1]) == {"model", "input"}
    assert len(embedder.asked) == len({text for pair in PAIRS for text in pair}), "one text, one call"
    assert outcome.json["usage"]["prompt_tokens"] == 7 * len(embedder.asked)


def test_a_provider_is_asked_at_its_address_for_embeddings(close, embedder):
    project = close(PAIRS[:1], model="openai/text-embedding-3-small")
    base = f"http://127.0.0.1:{embedder.server_port}/v1"
    outcome = project.assay("run", "task.yaml", "--json", OPENAI_API_KEY="k", OPENAI_BASE_URL=base)
    assert outcome.code == 0, outcome.err
    assert embedder.asked[0][0] == "/v1/embeddings"


@pytest.mark.parametrize(
    ("pairs", "reply", "kind", "words"),
    [
        ([("abc", None)], None, "missing_field", '"answer" is null'),
        ([("abc", "")], None, "missing_field", '"answer" is empty'),
        ([("abc", "xyz")], None, "parse", "no cosine of embeddings"),
        ([("abc", "ab")], ["x"], "http", "not a list of finite numbers"),
    ],
)
def test_what_has_no_embedding_is_a_failure_and_no_score(close, embedder, pairs, reply, kind, words):
    embedder.reply = reply
    outcome = close(pairs).assay("run", "task.yaml", "--json")
    assert outcome.code == 3
    assert words in outcome.err
    assert outcome.json["scorers"][0]["n_scored"] == 0


def test_a_model_that_chats_gives_no_embedding(project, loopback):
    config = {"url": f"{loopback.url}/chat/completions", "model_key": "x"}
    project.write("chat.yaml", json.dumps({"key": "chat", "display_name": "C", "config": config}))
    project.write("data.jsonl", [{"reply": "a", "answer": "a"}])
    project.write("task.yaml", TASK.format(model="chat"))
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 3
    assert "is it a model with `task: embeddings`?" in outcome.err


def test_the_cosine_has_no_rounding_beyond_one():
    from assay.scorers.embedding_similarity import cosine

    assert cosine([0.1] * 300, [0.1] * 300) == 1.0 or math.isclose(cosine([0.1] * 300, [0.1] * 300), 1.0)
    assert cosine([0.0], [1.0]) is None
    assert cosine([1.0], [1.0, 2.0]) is None
