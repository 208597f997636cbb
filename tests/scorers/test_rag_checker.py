"""`rag_checker`: every formula by hand-made tables, then a scripted judge from the command line."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from assay.judging.claims import Claim, Entailment
from assay.scorers.rag_checker import NAMES, SCORES, ClaimSide, rag_scores

TASK = """
key: rag
display_name: RAG
definition:
  dataset: {{source: {{type: local, file_path: data.jsonl}}}}
  solver: {{type: pass_through_solver, trace_column: reply}}
  scorers:
    - type: rag_checker
      judge_model_key: judge
      target_column: target
      {extra}
"""


def _side(by_other, by_chunk):
    """A side whose claims are entailed as the tables of 0 and 1 say: by the other text, and by each chunk."""
    told = lambda row: [Entailment(entailed=bool(x), reason="") for x in row]  # noqa: E731
    claims = [Claim("claim", "is", str(i)) for i in range(len(by_other))]
    return ClaimSide(claims=claims, by_other=told(by_other), by_chunk=[told(row) for row in by_chunk])


def _expected(response, r_chunks, target, t_chunks):
    """The formulas over sets, written independently of the scorer."""
    R, T, C = set(range(len(response))), set(range(len(target))), range(len(t_chunks))  # noqa: N806
    correct = {i for i in R if response[i]}
    recalled = {i for i in T if target[i]}
    covered_t = {i for i in T if any(t_chunks[c][i] for c in C)}
    covered_r = {i for i in R if any(r_chunks[c][i] for c in C)}
    relevant = {c for c in C if any(t_chunks[c])}
    wrong = R - correct
    share = lambda part, whole: Fraction(len(part), len(whole)) if whole else None  # noqa: E731
    precision, recall = share(correct, R), share(recalled, T)
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)
    return {
        "precision": precision,
        "recall": recall,
        "f1_score": f1,
        "claim_recall": share(covered_t, T),
        "context_precision": share(relevant, set(C)),
        "context_utilization": share(covered_t & recalled, covered_t),
        "noise_sensitivity_in_relevant": share({i for i in wrong if any(r_chunks[c][i] for c in relevant)}, R),
        "noise_sensitivity_in_irrelevant": share(
            {i for i in wrong if any(r_chunks[c][i] for c in C if c not in relevant)}, R
        ),
        "hallucination": share(wrong - covered_r, R),
        "self_knowledge": share(correct - covered_r, R),
        "faithfulness": share(covered_r, R),
    }


TABLES = {
    "all right": ([1, 1], [[1, 1]], [1], [[1]]),
    "mixed": ([1, 0, 0, 1], [[1, 1, 0, 0], [0, 0, 0, 0]], [1, 0, 1], [[1, 0, 0], [0, 0, 0]]),
    "noise in both": ([0, 0, 1], [[1, 0, 0], [0, 1, 0]], [1, 1], [[1, 0], [0, 0]]),
    "no response claims": ([], [[], []], [0, 1], [[0, 1], [0, 0]]),
    "no target claims": ([0, 0], [[1, 0]], [], [[]]),
    "no chunks": ([1, 0], [], [1, 0], []),
    "nothing covered": ([1, 0], [[0, 0]], [1, 1], [[0, 0]]),
    "nothing right": ([0, 0], [[0, 1]], [0], [[0]]),
    "nothing at all": ([], [], [], []),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_scores_are_the_formulas_over_sets_also_with_empty_denominators(table):
    response, r_chunks, target, t_chunks = table
    values = rag_scores(SCORES, _side(response, r_chunks), _side(target, t_chunks))
    expected = _expected(*table)
    assert values == {name: None if value is None else pytest.approx(float(value)) for name, value in expected.items()}


def test_without_retrieved_chunks_the_scores_of_the_context_are_undefined_and_not_zero():
    sides = [ClaimSide(claims=side.claims, by_other=side.by_other) for side in (_side([1, 0], []), _side([1], []))]
    values = rag_scores(SCORES, *sides)
    assert {name for name, value in values.items() if value is not None} == {"precision", "recall", "f1_score"}


CLAIMS = {
    "response": [["Bern", "is", "the capital"], ["Bern", "lies on", "the Rhine"]],
    "target": [["Bern", "is", "the capital"], ["Bern", "lies on", "the Aare"]],
}
CHUNKS = ["The Aare flows through Bern.", "Basel lies on the Rhine."]
ENTAILED = {
    # by the words of the text: which claims, by their objects, it entails
    "Bern is the capital and lies on the Aare": {"the capital", "the Aare"},
    "Bern, on the Rhine, is the capital": {"the capital", "the Rhine"},
    CHUNKS[0]: {"the Aare"},
    CHUNKS[1]: {"the Rhine"},
}
RESPONSE, TARGET = "Bern, on the Rhine, is the capital", "Bern is the capital and lies on the Aare"


def _documents(claims):
    return [dict(zip(("subject", "predicate", "object"), claim, strict=True)) for claim in claims]


def _row(**more):
    reply = {"type": "message", "role": "assistant", "content": RESPONSE}
    reply["references"] = [{"content": chunk} for chunk in CHUNKS]
    return {"query": "What is Bern?", "target": TARGET, "reply": [reply], **more}


class Judge(BaseHTTPRequestHandler):
    """Answers every question of the scorer by the tables above."""

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        system, user = messages[0]["content"], messages[-1]["content"]
        time.sleep(self.server.delay_s)
        self.server.asked.append(user)
        reply = self.server.reply or json.dumps(self._answer(system, user))
        message = {"role": "assistant", "content": reply}
        body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, system, user):
        text = next(text for text in ENTAILED if text in user)
        if system.startswith("You break"):
            return {"claims": _documents(CLAIMS["response" if text == RESPONSE else "target"])}
        claims = re.findall(r"claim_(\d+): (.*)", user)
        if system.startswith("You are shown a question"):
            label = lambda claim: "REQUIRED" if "capital" in claim else "OPTIONAL"  # noqa: E731
            return {f"claim_{n}": {"reason": "", "label": label(claim)} for n, claim in claims}
        held = lambda claim: any(claim.endswith(o) for o in ENTAILED[text])  # noqa: E731
        return {f"claim_{n}": {"reason": f"see: {text}", "entailed": held(claim)} for n, claim in claims}

    def log_message(self, *arguments):
        pass


@pytest.fixture
def judge():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    server.asked, server.delay_s, server.reply = [], 0.0, None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def rag(project, judge):
    """Write the task with these rows; the judge answers by the tables, over HTTP."""

    def write(rows, extra=""):
        config = {"url": f"http://127.0.0.1:{judge.server_port}/chat/completions", "model_key": "judge"}
        project.write("judge.yaml", json.dumps({"key": "judge", "display_name": "Judge", "config": config}))
        project.write("data.jsonl", rows)
        project.write("task.yaml", TASK.format(extra=extra))
        return project

    return write


def _values(outcome):
    assert outcome.code == 0, outcome.err
    metrics = outcome.json["scorers"][0]["metrics"]
    return {name: entry["value"] for metric in metrics for name, entry in metric["values"].items()}


ALL = {
    "precision": 1 / 2,
    "recall": 1 / 2,
    "f1_score": 1 / 2,
    "claim_recall": 1 / 2,
    "context_precision": 1 / 2,
    "context_utilization": 0.0,
    "noise_sensitivity_in_relevant": 0.0,
    "noise_sensitivity_in_irrelevant": 1 / 2,
    "hallucination": 0.0,
    "self_knowledge": 1 / 2,
    "faithfulness": 1 / 2,
}


def _mean_names(values):
    return {name.removesuffix("_mean"): value for name, value in values.items()}


def test_a_judge_takes_claims_out_of_answer_and_target_and_finds_them_in_every_text(rag, judge):
    project = rag([_row()])
    values = _mean_names(_values(project.assay("run", "task.yaml", "--json")))
    assert values == pytest.approx(ALL)
    # two extractions, answer in target, target in answer, and both in each chunk
    assert len(judge.asked) == 4 + len(CHUNKS)
    (sample,) = project.assay("samples", "latest", "--json").lines
    said = sample["scores"]["rag_checker"]["metadata"]
    assert said["retrieved_chunks"] == CHUNKS
    rhine = said["response_claims"][1]
    assert (rhine["claim"]["object"], rhine["entailed"]) == ("the Rhine", False)
    assert rhine["reason"] == f"see: {TARGET}"
    assert [chunk["entailed"] for chunk in rhine["chunks"]] == [False, True]
    again = project.assay("run", "task.yaml", "--json", "--seed", "1")
    assert _mean_names(_values(again)) == pytest.approx(ALL)
    assert len(judge.asked) == 4 + len(CHUNKS), "nothing is asked twice"


def test_the_plan_predicts_the_calls_of_claims_that_the_dataset_has(rag, judge):
    claims = {side: _documents(CLAIMS[side]) for side in CLAIMS}
    nested = [{"claim": claim} for claim in claims["target"]]
    extra = "target_claims_column: t\n      response_claims_column: r"
    project = rag([_row(t=nested, r=claims["response"]), _row(t=[], r=claims["response"], query="?")], extra)
    plan = project.assay("plan", "task.yaml", "--json")
    assert plan.code == 0, plan.err
    predicted = sum(model["calls"] for model in plan.json["models"])
    assert judge.asked == []
    assert project.assay("run", "task.yaml", "--json").code == 0
    assert predicted == len(judge.asked)


@pytest.mark.parametrize("where", ["columns", "judge"])
def test_required_claims_have_scores_of_their_own(rag, where):
    labels = ["REQUIRED", "OPTIONAL"]
    extra = "mode: required_and_optional"
    if where == "columns":
        extra += "\n      target_labels_column: tl\n      response_labels_column: rl"
    project = rag([_row(tl=labels, rl=labels)], extra)
    values = _mean_names(_values(project.assay("run", "task.yaml", "--json")))
    required = {"precision": 1, "recall": 1, "claim_recall": 0, "context_precision": 0, "self_knowledge": 1}
    assert {name: values[name] for name in ALL} == pytest.approx(ALL)
    assert {name: values[f"required_{name}"] for name in required} == pytest.approx(required)
    assert values["required_context_utilization"] is None, "no required claim is in a chunk"


def test_only_what_the_scores_need_is_asked(rag, judge):
    project = rag([_row()], "scores_to_compute: [faithfulness]")
    assert _mean_names(_values(project.assay("run", "task.yaml", "--json"))) == {"faithfulness": 0.5}
    # one extraction, and the claims of the answer in each chunk
    assert len(judge.asked) == 1 + len(CHUNKS)


@pytest.mark.parametrize(
    ("rows", "extra", "kind", "words"),
    [
        ([_row(t=[{"predicate": "is", "object": "x"}])], "target_claims_column: t", "parse", "claim 1 has no subject"),
        ([_row(t="Bern is")], "target_claims_column: t", "parse", "expected a list of claims, got str"),
        (
            [_row(tl=["REQUIRED"])],
            "mode: required_only\n      target_labels_column: tl",
            "parse",
            "there are 1 labels for 2 claims",
        ),
        (
            [_row(tl=["REQUIRED", "NICE"])],
            "mode: required_only\n      target_labels_column: tl",
            "parse",
            "expected REQUIRED or OPTIONAL",
        ),
        ([{**_row(), "query": None}, _row()], "", "missing_field", '"query" is null'),
    ],
)
def test_samples_with_unusable_claims_are_failures_that_say_why(rag, rows, extra, kind, words):
    project = rag(rows, extra)
    outcome = project.assay("run", "task.yaml", "--json")
    assert outcome.code == 3
    assert outcome.json["failures"] == {kind: 1}
    assert words in outcome.err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("scores_to_compute: [precisoin]", "precision"),
        ("mode: required", "required_only"),
        ("target_labels_column: tl", "used only with mode required_only"),
        ("target_claims_column: cliams", "cliams"),
        ("judge_model: x", "judge_model_key"),
    ],
)
def test_mistakes_in_the_file_are_found_before_anybody_is_asked(rag, judge, extra, words):
    outcome = rag([_row()], extra).assay("check", "task.yaml")
    assert outcome.code == 2
    assert words in outcome.out
    assert judge.asked == []


def test_a_judge_that_cannot_be_read_is_a_failure_and_no_score(rag, judge):
    judge.reply = "I would rather not."
    outcome = rag([_row()]).assay("run", "task.yaml", "--json")
    assert outcome.code == 3
    assert outcome.json["failures"] == {"parse": 1}
    assert all(
        value is None for value in _mean_names({m["key"]: None for m in outcome.json["scorers"][0]["metrics"]}).values()
    )


def test_a_killed_run_repeats_nothing_that_was_answered(rag, judge):
    judge.delay_s = 0.05
    rows = [_row(query=f"What is Bern, {i}?", target=f"{TARGET} ({i})") for i in range(20)]
    project = rag(rows)
    process = project.start("run", "task.yaml", "--max-concurrency", "4", "-q")
    while len(judge.asked) < 40:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    time.sleep(0.2)
    judge.delay_s = 0.0
    assert project.assay("run", "task.yaml", "-q").code == 0
    repeated = len(judge.asked) - len(set(judge.asked))
    assert repeated <= 4 + 4, "at most what was in flight, and one commit"


def test_every_name_is_declared_with_its_range():
    from assay.scorers.rag_checker import KIND

    assert set(KIND.ranges) == set(NAMES) == set(KIND.values)
