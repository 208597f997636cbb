"""Synthesizers that work with claims and questions, with a model on this machine that answers by a table."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

RUN = """
dataset_generators:
  - key: made
    display_name: Made
    definition:
      dataset: {{type: dataset_samples, key: facts}}
      synthesizers: {synthesizers}
datasets:
  - {{key: facts, display_name: Facts, source: {{type: local, file_path: facts.jsonl}}}}
  - {{key: rows, display_name: Rows, generator_specification: {{dataset_generator_key: made, num_samples: 9}}}}
evaluation: {{key: e, display_name: E, task_specifications: []}}
"""
SOURCE = "Bern is the capital of Switzerland. It lies on the Aare."
FACT = {"question": "What is Bern?", "expected_answer": SOURCE, "text": SOURCE, "title": "Bern"}
CLAIMS = [
    {"subject": "Bern", "predicate": "is", "object": "the capital of Switzerland"},
    {"subject": "Bern", "predicate": "lies on", "object": "the Aare"},
]
LABELS = {"claim_1": {"label": "REQUIRED"}, "claim_2": {"label": "optional"}}
QUOTES = {"claim_1": {"quote": "Bern is the capital"}, "claim_2": {"quote": None}}
OPEN = {"questions": [{"question": "Where does Bern lie?", "expected_answer": "on the Aare"}]}
CHOICES = {"questions": [{"question": "River?", "choices": ["Rhine", "Aare"], "correct_choice": "Aare"}]}


class Writer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"])
        replies = self.server.replies
        reply = replies[min(len(self.server.asked), len(replies)) - 1]
        message = {"role": "assistant", "content": reply if isinstance(reply, str) else json.dumps(reply)}
        answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def writer():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Writer)
    server.asked, server.replies = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def generate(project, writer):
    """Make rows of one fact; the model gives these replies in turn, and the last one from then on."""

    def run(synthesizers, *replies, row=FACT):
        writer.replies = list(replies)
        config = {"url": f"http://127.0.0.1:{writer.server_port}/chat/completions", "model_key": "w"}
        project.write("writer.yaml", json.dumps({"key": "writer", "display_name": "W", "config": config}))
        project.write("facts.jsonl", [row])
        project.write("run.yaml", RUN.format(synthesizers=json.dumps(synthesizers)))
        outcome = project.assay("generate", "run.yaml", "--dataset", "rows", "--json")
        if outcome.code:
            return outcome
        return [json.loads(line) for line in Path(outcome.json["file"]).read_text(encoding="utf-8").splitlines()]

    return run


def test_claims_are_taken_out_of_answers_labelled_and_found_in_their_source(generate, writer):
    steps = [
        {"type": kind, "model_key": "writer"} for kind in ("claim_extraction", "claim_labeling", "link_claim_quotes")
    ]
    (row,) = generate(steps, {"claims": CLAIMS}, LABELS, QUOTES)
    assert row["claims"] == CLAIMS
    assert row["claims_labels"] == ["REQUIRED", "OPTIONAL"]
    assert row["claim_source_quotes"] == ["Bern is the capital", None]
    assert len(writer.asked) == 3


def test_other_columns_and_instructions(generate, writer):
    step = {
        "type": "claim_extraction",
        "model_key": "writer",
        "output_field": "facts",
        "instructions": "Leave out rivers.",
        "columns": {"question": "title", "answer": "text"},
    }
    (row,) = generate([step], {"claims": CLAIMS[:1]})
    assert row["facts"] == CLAIMS[:1]
    assert "Leave out rivers." in writer.asked[0][0]["content"]


def test_a_quote_that_is_not_in_the_source_is_asked_for_once_more(generate, writer):
    step = {"type": "link_claim_quotes", "model_key": "writer"}
    invented = {**QUOTES, "claim_1": {"quote": "Bern is a capital"}}
    (row,) = generate([step], invented, QUOTES, row={**FACT, "claims": CLAIMS})
    assert row["claim_source_quotes"] == ["Bern is the capital", None]
    assert 'the quote of "claim_1" does not occur in the source' in writer.asked[1][-1]["content"]
    writer.asked.clear()
    refused = generate([step], invented, row={**FACT, "claims": CLAIMS[:1], "text": SOURCE + " "})
    assert refused.code != 0
    assert "does not occur in the source" in refused.err


def test_open_questions_and_questions_with_choices(generate):
    step = {"type": "question_answering", "model_key": "writer", "title_column": "title"}
    (row,) = generate([{**step, "qa_type": "open_ended"}], OPEN)
    assert (row["question"], row["expected_answer"]) == ("Where does Bern lie?", "on the Aare")
    (row,) = generate([{**step, "qa_type": "multiple_choice", "num_choices": 2}], CHOICES)
    assert (row["choices"], row["correct_choice"], row["expected_answer"]) == (["Rhine", "Aare"], "B", "Aare")


def test_several_questions_are_several_rows(generate):
    step = {"type": "question_answering", "model_key": "writer", "qa_type": "open_ended", "num_questions": 2}
    two = {"questions": [*OPEN["questions"], {"question": "What is Bern?", "expected_answer": "a capital"}]}
    rows = generate([step], OPEN, two)
    assert [row["expected_answer"] for row in rows] == ["on the Aare", "a capital"], "too few are asked for again"


@pytest.mark.parametrize(
    ("step", "reply", "row", "words"),
    [
        (
            {"type": "claim_extraction"},
            {"claims": [{"predicate": "is", "object": "x"}]},
            FACT,
            "claim 1 has no subject",
        ),
        ({"type": "claim_extraction"}, {"claims": []}, {"question": "?"}, 'no column "expected_answer"'),
        ({"type": "claim_labeling"}, LABELS, {**FACT, "claims": [{"subject": "Bern"}]}, "claim 1 has no predicate"),
        ({"type": "claim_labeling"}, {"claim_1": {"label": "x"}}, {**FACT, "claims": CLAIMS}, "neither REQUIRED nor"),
        (
            {"type": "question_answering", "qa_type": "multiple_choice"},
            CHOICES,
            FACT,
            "has not 4 different choices",
        ),
        ({"type": "question_answering", "qa_type": "open_ended"}, "no idea", FACT, 'a list "questions"'),
    ],
)
def test_what_cannot_be_used_is_a_failure_that_says_why(generate, step, reply, row, words):
    outcome = generate([{**step, "model_key": "writer"}], reply, row=row)
    assert outcome.code != 0
    assert words in outcome.err


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"type": "claim_extractoin", "model_key": "writer"}, 'did you mean "claim_extraction"?'),
        ({"type": "claim_extraction", "model_key": "writer", "columns": {"anwser": "x"}}, 'did you mean "answer"?'),
        ({"type": "question_answering", "model_key": "writer"}, 'missing field "qa_type"'),
        ({"type": "question_answering", "model_key": "writer", "qa_type": "essay"}, "open_ended"),
    ],
)
def test_mistakes_in_the_file_are_located(generate, step, words):
    outcome = generate([step], {})
    assert outcome.code == 2
    assert words in outcome.err
    assert "run.yaml:" in outcome.err
