"""Code beyond scorers, from the command line: solvers, post-processors, system tasks, models, run files."""

from __future__ import annotations

import signal
import time

import pytest

from assay.sandbox.linux import unsupported

pytestmark = pytest.mark.skipif(unsupported() is not None, reason="this machine cannot confine code")

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
    assert done.json["n_sources"] == 20
    assert "58 rows of 20 samples" in project.assay("show").out
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
    assert (values["odd"]["value"], values["odd"]["reason"]) == (None, 'the code returned text ("high")')
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
