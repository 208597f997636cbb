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
    "crash": "crashed its process",
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


def test_python_programs_may_allow_code_too(code, monkeypatch):
    import assay

    project = code()
    monkeypatch.chdir(project.folder)
    with pytest.raises(assay.SpecError, match="Python code runs only with permission"):
        assay.run("task.yaml")
    result = assay.run("task.yaml", allow_code=True)
    assert result.metrics["accuracy"].value == 0.9


def test_check_says_which_isolation_a_snippet_has_and_why(code):
    runs_text = SCORER.replace('print("looking at", sample.n)', "exec(sample.text)")
    done = code(runs_text).assay("check", "task.yaml")
    assert done.code == 0
    assert "compute_scores runs with isolation: process" in done.err
    assert "line 2 of the snippet uses exec" in done.err
    assert "runs with isolation: batch: nothing in it can run" in code().assay("check", "task.yaml").err
    as_set = SCORER.replace("    - type: python\n", "    - type: python\n      isolation: batch\n", 1)
    assert "isolation: batch, as set" in code(as_set).assay("check", "task.yaml").err


def test_isolation_changes_no_result_and_reuses_the_run(code):
    first = code().assay("run", "task.yaml", "--json", "--allow-code")
    apart = SCORER.replace("    - type: python\n", "    - type: python\n      isolation: process\n", 1)
    again = code(apart).assay("run", "task.yaml", "--allow-code")
    assert f"10 reused from {first.json['run']}" in again.out
    fresh = code(apart).assay("run", "task.yaml", "--json", "--allow-code", "--store", "other.db")
    assert fresh.json["scorers"] == first.json["scorers"]


def test_a_wrong_isolation_is_named(code):
    wrong = SCORER.replace("    - type: python\n", "    - type: python\n      isolation: proces\n", 1)
    done = code(wrong).assay("check", "task.yaml")
    assert done.code == 2
    assert "isolation" in done.out
    assert "process" in done.out
