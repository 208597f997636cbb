"""User code from the command line: by permission only, hostile or honest, one sample at a time."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from assay.sandbox.linux import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")

HEAD = """
key: code
display_name: Code
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
"""
SCORER = """
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample, solver_output):
            print("looking at", sample.n)
            return {"is_correct": float(solver_output.output == "yes"), "n": sample.n}
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - type: python
          compute_metrics_snippet: |
            def compute_metrics(scores):
                return {"largest": max(score["n"] for score in scores)}
    - type: python_all_samples
      compute_scores_snippet: !include rank.py
      metrics: [{type: max, field: rank}]
"""
RANK = """

import statistics

def compute_scores(samples):
    ordered = sorted(samples, key=lambda sample: sample.n)
    return [{"rank": ordered.index(sample)} for sample in samples]
"""


@pytest.fixture
def code(project):
    """A project whose scorers are code, with ten recorded answers."""

    def make(scorers: str = SCORER, rows=None):
        project.write("task.yaml", HEAD + scorers)
        project.write("rank.py", RANK)
        project.write("data.jsonl", rows or [{"n": n, "output": "no" if n == 3 else "yes"} for n in range(10)])
        return project

    return make


def test_code_does_not_run_without_permission_and_the_places_to_read_are_listed(code):
    project = code()
    refused = project.assay("run", "task.yaml")
    assert refused.code == 2
    lines = refused.err.splitlines()
    assert lines[1:4] == [
        "  task.yaml:11:1: compute_scores",
        "  task.yaml:18:1: compute_metrics",
        "  rank.py:3:1: compute_scores",
    ]
    assert "--allow-code" in lines[4]
    assert not (project.folder / ".assay" / "assay.db").exists()


@pytest.mark.parametrize("how", [{"flags": ["--allow-code"]}, {"ASSAY_ALLOW_CODE": "1"}, {"flags": ["--trust-code"]}])
def test_scorers_and_metrics_are_code(code, how):
    project = code()
    flags = how.pop("flags", [])
    done = project.assay("run", "task.yaml", "--json", *flags, **how)
    assert done.code == 0, done.err
    first, second = done.json["scorers"]
    accuracy, largest = first["metrics"]
    assert accuracy["values"]["accuracy"]["value"] == 0.9
    assert accuracy["values"]["accuracy"]["low"] is not None
    assert largest["values"]["largest"]["value"] == 9.0
    assert largest["values"]["largest"]["low"] is None
    assert second["metrics"][0]["values"]["rank_max"]["value"] == 9.0
    samples = project.assay("samples", "--json").lines
    assert samples[4]["scores"]["python"]["metadata"] == {"printed": "looking at 4\n"}
    assert [sample["scores"]["python_all_samples"]["values"]["rank"] for sample in samples] == list(range(10))


def test_a_second_run_computes_nothing_and_a_change_of_the_code_computes_all(code):
    project = code()
    first = project.assay("run", "task.yaml", "--json", "--allow-code").json
    again = project.assay("run", "task.yaml", "--json", "--allow-code").json
    assert (first["n_cached"], again["n_cached"]) == (0, 10)
    project.write("rank.py", RANK.replace("ordered.index(sample)", "-ordered.index(sample)"))
    changed = project.assay("run", "task.yaml", "--json", "--allow-code").json
    assert changed["n_cached"] == 0
    assert changed["scorers"][1]["metrics"][0]["values"]["rank_max"]["value"] == 0.0


def test_stored_answers_are_scored_with_new_code(code):
    project = code()
    project.assay("run", "task.yaml", "--allow-code")
    project.write("rank.py", RANK.replace("ordered.index(sample)", "7"))
    refused = project.assay("rescore", "latest", "task.yaml")
    assert refused.code == 2
    assert "rank.py:3:1: compute_scores" in refused.err
    done = project.assay("rescore", "latest", "task.yaml", "--json", "--allow-code")
    assert done.code == 0, done.err
    assert done.json["scorers"][1]["metrics"][0]["values"]["rank_max"]["value"] == 7.0
    assert done.json["scorers"][0]["metrics"][0]["values"]["accuracy"]["value"] == 0.9


WRONG = """
    - type: python
      compute_scores_snippet: |
        def compute_score(sample):
            return {}
      metrics: []
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample):
            return {"a": (1}
      metrics:
        - type: python
          compute_metrics_snippet: |
            def compute_metrics(): return {}
    - type: python_all_samples
      compute_scores_snippet: !include broken.py
      metrics: []
"""


def test_check_finds_what_is_wrong_with_code_without_running_it(code):
    project = code(WRONG)
    project.write("broken.py", "open('ran', 'w')\nx = = 1\n")
    problems = project.assay("check", "task.yaml", "--json").json
    assert [(Path(p["file"]).name, p["line"], p["column"], p["suggestion"]) for p in problems] == [
        ("broken.py", 2, 5, None),
        ("task.yaml", 11, 9, "compute_scores"),
        ("task.yaml", 17, 28, None),
        ("task.yaml", 21, 13, None),
    ]
    assert not (project.folder / "ran").exists()
    shown = project.assay("check", "task.yaml").out
    assert '   17 |             return {"a": (1}' in shown
    assert "      |                            ^" in shown


def test_planning_runs_no_code_and_needs_no_permission(code):
    assert code().assay("plan", "task.yaml").code == 0


ATTACKER = """
    - type: python
      compute_scores_snippet: |
        import os
        import socket
        import subprocess

        def compute_scores(sample):
            return {"done": ATTACKS[sample.attack](sample)}

        def loop(sample):
            while True:
                pass

        def fork(sample):
            for _ in range(300):
                os.fork()

        def write(sample):
            with open(os.path.join(os.path.dirname(sample.secret), "big"), "wb") as out:
                for _ in range(10):
                    out.write(b"x" * 10**9)

        def shout(sample):
            for _ in range(1000):
                print("x" * 10**6)

        def change(sample):
            with open(sample.secret, "a") as out:
                out.write("changed")

        ATTACKS = {
            "read a file outside": lambda sample: open(sample.secret).read(),
            "read .env": lambda sample: open(os.path.join(os.path.dirname(sample.secret), ".env")).read(),
            "read the parent's environment": lambda sample: open(f"/proc/{os.getppid()}/environ").read(),
            "open a socket": lambda sample: socket.create_connection(("127.0.0.1", 80)),
            "fork 300 processes": fork,
            "allocate 10 GB": lambda sample: len([0] * (10**10 // 8)),
            "write 10 GB": write,
            "loop for ever": loop,
            "kill the parent": lambda sample: os.kill(os.getppid(), 9),
            "exec a shell": lambda sample: os.execv("/bin/sh", ["sh"]),
            "write into the project": change,
            "print 1 GB": shout,
            "crash": lambda sample: os.abort(),
            "nothing": lambda sample: "TOP_SECRET" not in os.environ,
        }
      metrics: [{type: mean, field: done}]
"""
ATTACKS = {
    "read a file outside": "PermissionError",
    "read .env": "PermissionError",
    "read the parent's environment": "PermissionError",
    "open a socket": "PermissionError",
    "fork 300 processes": "PermissionError",
    "allocate 10 GB": "MemoryError",
    "write 10 GB": "PermissionError",
    "loop for ever": "took longer than 1 s",
    "kill the parent": "PermissionError",
    "exec a shell": "PermissionError",
    "write into the project": "PermissionError",
    "print 1 GB": "printed more than 1,000,000 characters",
    "crash": "crashed its process (SIGABRT)",
}


def test_each_attack_fails_its_own_sample_and_the_run_goes_on(code):
    rows = [{"attack": name, "output": ""} for attack in ATTACKS for name in (attack, "nothing")]
    project = code(ATTACKER)
    secret = project.write("secret.txt", "keep me")
    project.write(".env", "KEY=canary-in-env-file\n")
    project.write("data.jsonl", [{**row, "secret": str(secret)} for row in rows])
    flags = ["--json", "--allow-code", "--code-timeout", "1"]
    done = project.assay("run", "task.yaml", *flags, TOP_SECRET="canary-in-environment")
    assert done.code == 3
    assert "50.0% of the scores failed" in done.err
    assert done.json["failures"] == {"code": len(ATTACKS)}
    assert done.json["scorers"][0]["metrics"][0]["values"]["done_mean"]["value"] == 1.0
    samples = project.assay("samples", "--json").lines
    for sample in samples:
        words = ATTACKS.get(sample["sample"]["attack"])
        if words is None:
            assert sample["scores"]["python"]["values"] == {"done": True}
        else:
            (failure,) = sample["failures"]
            assert (failure["stage"], failure["kind"]) == ("score", "code")
            assert words in failure["detail"], sample["sample"]["attack"]
    assert secret.read_text() == "keep me"
    assert sorted(path.name for path in project.folder.iterdir() if not path.name.startswith(".assay")) == [
        ".env",
        "data.jsonl",
        "rank.py",
        "secret.txt",
        "task.yaml",
    ]
    assert "canary" not in json.dumps(samples)


def workers_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    tasks = Path(f"/proc/{pid}/task").glob("*/children") if children.exists() else []
    return [int(child) for task in tasks for child in task.read_text().split()]


def runs(pid: int) -> bool:
    """Whether a process is there and is more than an entry that nobody has asked after."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_nothing_is_left_running_when_assay_is_killed(code):
    hanging = """
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample):
            while True:
                pass
      metrics: []
"""
    project = code(hanging)
    process = project.start("run", "task.yaml", "--allow-code")
    deadline = time.monotonic() + 30
    while not (found := workers_of(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    time.sleep(0.5)
    assert found
    assert not [worker for worker in found if runs(worker)]


def test_live_answers_are_scored_by_code_and_trials_by_themselves(live):
    task = """
key: live
display_name: Live
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
  trials: {num_trials: 2}
  scorers:
    - type: python
      compute_scores_snippet: |
        async def compute_scores(sample, solver_output):
            return {"said": len(solver_output.trace.get_last_user_text()), "ok": solver_output.output in "ABCD"}
      metrics: [{type: mean, field: ok}]
    - type: python_all_samples
      compute_scores_snippet: |
        def compute_scores(samples):
            return [{"n": len(samples)} for _ in samples]
      metrics: [{type: mean, field: n}]
"""
    project = live(6, task=task)
    done = project.assay("run", "task.yaml", "--model", "stub", "--json", "--allow-code")
    assert done.code == 0, done.err
    assert done.json["scorers"][0]["metrics"][0]["values"]["ok_mean"]["value"] == 1.0
    assert done.json["scorers"][1]["metrics"][0]["values"]["n_mean"]["value"] == 6.0


SOLVER = """
key: led
display_name: Led by code
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: python
    run_solver_snippet: |
      async def run_solver(sample, model, trace):
          if sample.question == "Question 3?":
              raise ValueError("not this one")
          trace.append_user_message(sample.question)
          trace.add_model_response(await model.predict(trace.items))
          trace.append_user_message("Are you sure?")
          trace.add_model_response(await model.predict(trace.items))
    sampling: {temperature: 0}
  scorers:
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample, solver_output):
            return {"turns": len(solver_output.trace.turns)}
      metrics: [{type: mean, field: turns}]
"""


def test_code_leads_conversations_that_are_paid_for_once(live, loopback):
    project = live(20, task=SOLVER)
    refused = project.assay("run", "task.yaml", "--model", "stub")
    assert refused.code == 2
    assert "run_solver" in refused.err
    flags = ["--model", "stub", "--json", "--allow-code"]
    done = project.assay("run", "task.yaml", *flags)
    assert done.code == 0, done.err
    assert done.json["failures"] == {"code": 1}
    assert done.json["scorers"][0]["metrics"][0]["values"]["turns_mean"]["value"] == 2.0
    asked = loopback.stats()["served"]
    assert asked == 38
    assert float(done.json["cost_usd"]) > 0
    again = project.assay("run", "task.yaml", *flags, "--limit", "10")
    assert again.json["n_cached"] == 9
    assert loopback.stats()["served"] == asked
    failure = project.assay("samples", "--failed", "--json").lines[0]["failures"][0]
    assert (failure["stage"], failure["kind"]) == ("solve", "code")
    assert failure["detail"].splitlines()[1] == "  task.yaml:11 in run_solver"
    plan = project.assay("plan", "task.yaml", "--model", "stub", "--limit", "5", "--json")
    assert plan.json["models"][0]["calls"] == 5


FAN = """
key: fan
display_name: Fan
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
    sampling: {temperature: 0}
    postprocessor:
      type: python
      postprocess_snippet: |
        def postprocess(sample, solver_output):
            if sample.question == "Question 3?":
                return []
            return [({**sample, "part": n}, solver_output) for n in range(3)]
  TRIALS
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.answer }}"}
    - {type: contains, substring: "{{ sample.part }}", value: "012"}
"""


@pytest.mark.parametrize("trials", [1, 2])
def test_rows_of_one_sample_are_scored_apart_and_count_as_one_cluster(live, loopback, trials):
    project = live(20, task=FAN.replace("TRIALS", "trials: {num_trials: 2}" if trials == 2 else ""))
    flags = ["--model", "stub", "--json", "--allow-code"]
    done = project.assay("run", "task.yaml", *flags)
    assert done.code == 0, done.err
    assert loopback.stats()["served"] == 20 * trials
    assert (done.json["n_samples"], done.json["n_failed"]) == (19 * 3 + 1, 1)
    first, second = done.json["scorers"]
    value = first["metrics"][0]["values"]["accuracy"]
    assert (value["n"], value["clusters"]) == (57, 19)
    assert second["metrics"][0]["values"]["accuracy"]["value"] == 1.0
    samples = project.assay("samples", "--json").lines
    assert {sample["sample_id"] for sample in samples[: 3 * trials]} == {"0/0", "0/1", "0/2"}
    assert samples[1]["sample"]["part"] == 1
    again = project.assay("run", "task.yaml", *flags)
    assert again.json["n_samples"] == done.json["n_samples"]
    assert loopback.stats()["served"] == 20 * trials


def test_a_run_with_several_rows_a_sample_goes_on_where_it_stopped(live, loopback):
    project = live(60, task=FAN.replace("TRIALS", ""))
    loopback.configure(latency_ms=300)
    process = project.start("run", "task.yaml", "--model", "stub", "--allow-code", "--max-concurrency", "10")
    deadline = time.monotonic() + 30
    while loopback.stats()["served"] < 25 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = loopback.stats()["served"]
    loopback.configure(latency_ms=0)
    done = project.assay("run", "task.yaml", "--model", "stub", "--allow-code", "--json")
    assert done.code == 0, done.err
    assert 0 < before < 60
    assert done.json["n_samples"] == 59 * 3 + 1
    assert loopback.stats()["served"] <= 60 + 10
    assert project.assay("rescore", "latest", "task.yaml", "--allow-code", "--json").json["n_samples"] == 59 * 3 + 1


EVIDENCE = """
key: evidence
display_name: Evidence
definition:
  type: system_task
  compute_evidence_snippet: |
    import socket

    def compute_evidence():
        with socket.create_connection(("127.0.0.1", PORT), timeout=5):
            reached = 1
        metrics = {"reached": {"value": reached, "reason": "by TCP"}, "plain": 3, "unknown": {"reason": "not measured"}}
        return {"metrics": {**metrics, "odd": {"value": "high"}}}
"""


def test_a_system_task_gathers_evidence_over_the_network(project, loopback):
    port = loopback.root.rsplit(":", 1)[1]
    project.write("task.yaml", EVIDENCE.replace("PORT", port))
    assert project.assay("check", "task.yaml").code == 0
    refused = project.assay("run", "task.yaml")
    assert refused.code == 2
    assert "task.yaml:7:1: compute_evidence" in refused.err
    done = project.assay("run", "task.yaml", "--json", "--allow-code")
    assert done.code == 0, done.err
    values = done.json["scorers"][0]["metrics"][0]["values"]
    assert (values["reached"]["value"], values["reached"]["reason"], values["reached"]["low"]) == (1.0, "by TCP", None)
    assert values["plain"]["value"] == 3.0
    assert (values["unknown"]["value"], values["unknown"]["reason"]) == (None, "not measured")
    assert (values["odd"]["value"], values["odd"]["reason"]) == (None, 'the code gave text ("high")')
    assert "reached" in project.assay("show").out
    assert project.assay("run", "task.yaml", "--allow-code", "--dataset", "x.csv").code == 2
    assert project.assay("run", "task.yaml", "--allow-code", "--model", "scripted/x").code == 2


RUN = """
models:
  - key: mine
    display_name: Mine
    config:
      connection_type: custom_inference
      run_inference_snippet: |
        def run_inference(body, environment, sample=None):
            return "A"
tasks:
  - key: sys
    display_name: Sys
    definition:
      type: system_task
      compute_evidence_snippet: |
        def compute_evidence():
            return {"metrics": {"ok": {"value": 1}}}
  - key: coded
    display_name: Coded
    definition:
      dataset: {source: {type: inline_samples, samples: [{x: A}, {x: B}]}}
      solver:
        type: single_turn_solver
        input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.x }}"}]}
      scorers:
        - type: python
          compute_scores_snippet: |
            def compute_scores(sample, solver_output):
                return {"ok": sample.x == solver_output.output}
          metrics: [{type: mean, field: ok}]
evaluation:
  key: e
  display_name: E
  task_specifications:
    - {task_key: sys}
    - {task_key: coded, model_key: mine}
"""


def test_code_of_every_kind_runs_from_a_run_file_and_all_of_it_is_listed_before(project):
    project.write("run.yaml", RUN)
    refused = project.assay("run", "run.yaml")
    assert refused.code == 2
    for function in ("compute_evidence", "compute_scores", "run_inference"):
        assert f": {function}" in refused.err
    done = project.assay("run", "run.yaml", "--allow-code", "--json")
    assert done.code == 0, done.err
    first, second = done.json["results"]
    assert first["scorers"][0]["metrics"][0]["values"]["ok"]["value"] == 1.0
    assert second["scorers"][0]["metrics"][0]["values"]["ok_mean"]["value"] == 0.5
    assert project.assay("check", "run.yaml").code == 0


def test_python_programs_may_allow_code_too(code, monkeypatch):
    import assay

    project = code()
    monkeypatch.chdir(project.folder)
    with pytest.raises(assay.SpecError, match="Python code runs only by permission"):
        assay.run("task.yaml")
    result = assay.run("task.yaml", allow_code=True)
    assert result.metrics["accuracy"].value == 0.9
