"""Live models through the command line: what is remembered, what it costs, and what is never written down."""

import json
import signal
import time
from decimal import Decimal

import pytest

SECRET = "sk-canary-1f2e3d4c"


def run(project, *more, code=0):
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--json", *more)
    assert outcome.code == code, outcome.err
    return outcome.json


def test_a_finished_run_again_makes_no_call_and_costs_nothing(live, loopback):
    project = live(50)
    first = run(project)
    assert (first["n_cached"], loopback.stats()["served"]) == (0, 50)
    assert first["cost_usd"] > 0
    again = run(project)
    assert (again["n_cached"], loopback.stats()["served"]) == (50, 50)
    assert again["cost_usd"] == 0
    assert again["scorers"] == first["scorers"]


def test_a_changed_scorer_pays_for_no_answer_again(live, loopback):
    project = live(30)
    run(project)
    task = (project.folder / "task.yaml").read_text()
    project.write(
        "task.yaml", task.replace("choices: [A, B, C, D]", "choices: [A, B, C, D]\n      answer_extraction: letter")
    )
    again = run(project)
    assert loopback.stats()["served"] == 30
    assert (again["n_cached"], again["cost_usd"]) == (30, 0)
    (row, *_) = project.assay("samples", "--json").lines
    assert all(call["cached"] for call in row["calls"])


@pytest.mark.parametrize(("temperature", "calls"), [(0, 1), (1, 4)])
def test_samples_with_the_same_prompt_share_a_call_only_when_the_answer_is_not_random(
    live, loopback, temperature, calls
):
    project = live(1)
    project.write("data.jsonl", [{"question": "the same?", "answer": "A"}] * 4)
    task = (project.folder / "task.yaml").read_text()
    project.write("task.yaml", task.replace("temperature: 0", f"temperature: {temperature}"))
    assert run(project)["n_samples"] == 4
    assert loopback.stats()["served"] == calls


@pytest.mark.parametrize(("policy", "calls"), [("reuse", 0), ("update", 20), ("no-cache", 20)])
def test_cache_policies(live, loopback, policy, calls):
    project = live(20)
    run(project)
    task = (project.folder / "task.yaml").read_text()
    project.write(
        "task.yaml", task.replace("display_name: Live", "display_name: Other").replace("key: live", "key: other")
    )
    loopback.reset()
    loopback.configure(body="mcq")
    run(project, "--cache-policy", policy)
    assert loopback.stats()["served"] == calls


def test_fresh_asks_again(live, loopback):
    project = live(20)
    run(project)
    fresh = run(project, "--fresh")
    assert (fresh["n_cached"], loopback.stats()["served"]) == (0, 40)


def test_spending_never_passes_the_limit_and_the_part_has_right_numbers(live, loopback):
    project = live(3_000)
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-cost", "0.01")
    assert outcome.code == 3
    part = outcome.json
    assert part["status"] == "partial"
    assert 0 < part["cost_usd"] <= 0.01
    assert part["cost_usd"] > 0.005, "stopping far too early would be safe but useless"
    assert 0 < part["n_samples"] < 3_000
    assert "the run reached --max-cost" in outcome.err
    rows = project.assay("samples", "--json").lines
    right = [row["scores"]["string_equals_mcqa"]["values"]["is_correct"] for row in rows]
    value = part["scorers"][0]["metrics"][0]["values"]["accuracy"]
    assert (value["value"], value["n"]) == (pytest.approx(sum(right) / len(right)), len(rows))
    billed = sum(Decimal(str(spent["cost_usd"])) for spent in part["spending"])
    assert billed == Decimal(str(part["cost_usd"]))
    served = loopback.stats()["served"]
    more = run(project, "--max-cost", "5")
    assert more["n_samples"] == 3_000
    assert more["run"] == part["run"]
    assert loopback.stats()["served"] == 3_000
    assert served < 3_000


def test_a_limit_on_spending_is_refused_without_a_price(live):
    project = live(3, prices=None)
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--max-cost", "1")
    assert outcome.code == 2
    assert "price" in outcome.err


def test_an_unknown_price_is_unknown_not_zero(live):
    project = live(3, prices=None)
    assert run(project)["cost_usd"] is None
    assert "cost unknown" in project.assay("show").out


def test_the_key_reaches_no_file_no_log_and_no_export(live, loopback):
    project = live(10)
    loopback.configure(api_key=SECRET, error_text=SECRET)
    model = json.loads((project.folder / "model.yaml").read_text())
    model["config"]["custom_headers"] = {"X-Token": "$STUB_TOKEN"}
    project.write("model.yaml", json.dumps(model))
    (project.folder / ".env").unlink()
    secrets = {"STUB_KEY": SECRET, "STUB_TOKEN": f"{SECRET}-header"}
    rows = [{"question": f"[[status: 400]] {i}" if i % 5 == 0 else f"Question {i}", "answer": "A"} for i in range(10)]
    project.write("data.jsonl", rows)
    outputs = []
    for arguments in (
        ["run", "task.yaml", "--model", "stub", "--max-failures", "1"],
        ["samples", "--json"],
        ["show", "--json"],
        ["export", "--to", "out.jsonl"],
        ["export", "--to", "out.csv"],
        ["check", "task.yaml"],
    ):
        outcome = project.assay(*arguments, **secrets)
        assert outcome.code == 0, outcome.err
        outputs += [outcome.out, outcome.err]
    loopback.configure(error_text=f"{SECRET}-wrong")
    wrong = project.assay("run", "task.yaml", "--model", "stub", "--fresh", STUB_KEY=f"{SECRET}-wrong", STUB_TOKEN="x")
    assert wrong.code == 3
    outputs += [wrong.out, wrong.err]
    assert loopback.stats()["ok"] == 8
    assert not any(SECRET in output for output in outputs)
    for path in project.folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_a_judged_task_over_live_answers(live, loopback):
    judged = """
key: judged
display_name: Judged
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
    sampling: {temperature: 0}
  scorers:
    - type: model_as_a_judge_classifier
      model_key: stub
      system_prompt: "Is the response right?"
      user_prompt: "[[reply: Yes]] Response: {{ model_output.choices[0].message.content }} to {{ sample.question }}"
      correct_labels: ["yes"]
      incorrect_labels: ["no"]
    - type: model_as_a_judge_scorer
      model_key: stub
      user_prompt: "[[reply: 80]] Rate from 0 to 100: {{ sample.question }}"
      score_min: 0
      score_max: 100
"""
    project = live(12, task=judged)
    document = run(project)
    values = [scorer["metrics"][0]["values"] for scorer in document["scorers"]]
    assert values[0]["accuracy"]["value"] == 1.0
    assert values[1]["score_mean"]["value"] == pytest.approx(0.8)
    assert loopback.stats()["served"] == 36
    assert {spent["purpose"]: spent["n_calls"] for spent in document["spending"]} == {"answer": 12, "judge": 24}


def test_trials_ask_every_sample_several_times(live, loopback):
    project = live(6)
    task = (project.folder / "task.yaml").read_text().replace("temperature: 0", "temperature: 1")
    trials = """  trials:
    num_trials: 3
    score_aggregators:
      - {score_name: is_correct, aggregator: {function: "pass@k", k: 2}}
"""
    project.write("task.yaml", task + trials)
    document = run(project)
    assert loopback.stats()["served"] == 18
    assert document["n_samples"] == 6
    assert document["trials"] == 3
    metric = document["scorers"][0]["metrics"][0]
    assert "plug_in" in metric["detail"]
    rows = project.assay("samples", "--json").lines
    assert sorted((row["sample_id"], row["trial"]) for row in rows) == [(str(i), t) for i in range(6) for t in range(3)]
    shares = {}
    for row in rows:
        shares.setdefault(row["sample_id"], []).append(row["scores"]["string_equals_mcqa"]["values"]["is_correct"])
    expected = sum(1 - (1 - sum(v) / 3) ** 2 for v in shares.values()) / 6
    assert metric["values"]["accuracy"]["value"] == pytest.approx(expected)


def test_answers_that_were_cut_off_are_counted_and_kept_in_mind(live):
    project = live(3)
    project.write("data.jsonl", [{"question": "[[length]] one?", "answer": "A"}, {"question": "two?", "answer": "B"}])
    first = project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-failures", "1").json
    assert first["n_cut"] == 1
    assert "1 cut off at max_tokens" in project.assay("show").out
    again = project.assay("run", "task.yaml", "--model", "stub", "--json", "--max-failures", "1").json
    assert again["n_cut"] == 1


def test_stopping_a_fresh_run_says_to_leave_fresh_out(live, loopback):
    project = live(400)
    loopback.configure(latency_ms=200)
    process = project.start("run", "task.yaml", "--model", "stub", "--fresh", "--max-concurrency", "2")
    while loopback.stats()["served"] < 6:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command without --fresh goes on from there" in err
