"""`--executor ray` on a real cluster: the numbers of a local run, and nothing lost or paid twice when actors die."""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time

import pytest
from tests.conftest import LIVE_TASK

from assay.runner import ray_pool, ray_worker
from assay.runner.ray_pool import _joined
from assay.types import Failure, ScoreColumns
from assay.version import __version__

# what is stored where is said by each test
pytestmark = pytest.mark.sqlite

SMALL = 24
RUBRIC = """
key: graded
display_name: Graded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver:
    type: single_turn_solver
    input_builder: {type: chat_completion, input_messages: [{role: user, content: "{{ sample.question }}"}]}
  scorers:
    - type: rubric
      seed: 5
      rubric:
        - {name: polite, requirement: Is polite.}
        - {name: style, requirement: How?, options: [{label: Poor, value: 0}, {label: Fine, value: 1}]}
      judges: [{model_key: model.yaml, id: one}, {model_key: model.yaml, id: two}]
"""
RECORDED = """
key: recorded
display_name: Recorded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - {type: string_equals, value: "{{ sample.question }}", ground_truth: "{{ sample.answer }}"}
    - {type: regex, value: "{{ sample.question }}", pattern: "1"}
"""


HEAD = """
import sys
from assay.runner.ray_pool import import_ray
ray = import_ray()
ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
print("address", ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
ray.shutdown()
"""


@pytest.fixture(scope="session")
def cluster():
    """A Ray cluster on this machine that all tests share: starting one takes seconds.

    It has a process of its own: Ray leaves files and processes to the garbage collector, which pytest takes for errors.
    """
    with pytest.MonkeyPatch.context() as patch:
        # a cluster listens on the network: nobody else may start work on it
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        head = subprocess.Popen(
            [sys.executable, "-c", HEAD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        address = next((line.split()[1] for line in head.stdout if line.startswith("address ")), None)
        assert address is not None, "the Ray cluster did not start"
        patch.setenv("RAY_ADDRESS", address)
        ray = ray_pool.import_ray()
        ray_pool.keep_quiet(ray)
        with ray_pool._own_signals():
            ray.init(log_to_driver=False, configure_logging=False, logging_level="ERROR")
        yield address
        ray.shutdown()
        head.communicate(timeout=60)


def run(project, *arguments):
    outcome = project.assay("run", "task.yaml", "--json", *arguments)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("{"), outcome.out[:500]
    return outcome.json


def digest(project, store):
    """The sha256 of the export of the newest run, which has neither ids nor times in it."""
    outcome = project.assay("export", "latest", "--to", "out.jsonl", "--force", "--store", store)
    assert outcome.code == 0, outcome.err
    return hashlib.sha256((project.folder / "out.jsonl").read_bytes()).hexdigest()


def identity(project, store):
    from assay.store.runs import find
    from assay.store.store import open_for_reading

    opened = open_for_reading(str(project.folder / store) if "://" not in store else store)
    try:
        return find(opened, "latest").identity
    finally:
        opened.close()


def test_smoke_a_run_on_ray_is_that_of_one_process(live, cluster):
    project = live(SMALL)
    for executor in ("local", "ray"):
        run(project, "--model", "stub", "--executor", executor, "--store", f"{executor}.db")
    assert digest(project, "ray.db") == digest(project, "local.db")
    assert identity(project, "ray.db") == identity(project, "local.db")


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["live", "rubric", "recorded"])
def test_numbers_and_identity_are_the_same_everywhere(live, loopback, cluster, postgres, kind):
    task = {"live": LIVE_TASK, "rubric": RUBRIC, "recorded": RECORDED}[kind]
    project = live(600 if kind == "recorded" else SMALL, task=task)
    loopback.configure(body="auto" if kind == "rubric" else "mcq", vary=True)
    if kind == "rubric":
        # equal answers would be judged by one call, and the export says which sample happened to pay for it
        rows = [{"question": f"[[reply: Answer {n}]]", "answer": ""} for n in range(SMALL)]
        project.write("data.jsonl", rows)
    model = [] if kind == "recorded" else ["--model", "stub"]
    url = f"{postgres}{'&' if '?' in postgres else '?'}project=ray_{os.getpid()}_{kind}"
    places = {"local.db": [], "two.db": ["--executor", "ray"], "four.db": ["--executor", "ray", "--actors", "4"]}
    places |= {url: [], f"{url}_ray": ["--executor", "ray"]}
    digests, identities, metrics = set(), set(), set()
    for store, options in places.items():
        report = run(project, *model, *options, "--store", store)
        metrics.add(json.dumps([scorer["metrics"] for scorer in report["scorers"]], sort_keys=True))
        digests.add(digest(project, store))
        identities.add(identity(project, store))
    assert (len(digests), len(identities), len(metrics)) == (1, 1, 1)


def _kill_actors(stop, killed, draw, most):
    """Kill random actors of the run that is under way until it is over."""
    while not stop.is_set() and len(killed) < most:
        time.sleep(draw.uniform(0.3, 0.9))
        pools = [pool for pool in POOLS if not pool._closed and len(pool.pids) > 1]
        if pools and not stop.is_set():
            pid = draw.choice(pools[-1].pids)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)


POOLS = []


@pytest.fixture
def pools(monkeypatch):
    """The pools that are started in a test."""
    start = ray_pool.Pool.start

    def noted(pool):
        start(pool)
        POOLS.append(pool)

    monkeypatch.setattr(ray_pool.Pool, "start", noted)
    yield POOLS
    POOLS.clear()


@pytest.mark.deep
@pytest.mark.slow
def test_actors_that_are_killed_lose_no_answer_and_repeat_at_most_what_was_in_flight(live, loopback, cluster, pools):
    n, in_flight = 2_000, 40
    project = live(n)
    loopback.configure(body="mcq", latency_ms=50)
    stop, killed = threading.Event(), []
    killer = threading.Thread(target=_kill_actors, args=(stop, killed, random.Random(7), 6))
    killer.start()
    try:
        report = run(
            project, "--model", "stub", "--executor", "ray", "--actors", "3", "--max-concurrency", str(in_flight)
        )
    finally:
        stop.set()
        killer.join()
    assert killed, "the run ended before an actor was killed"
    assert (report["n_samples"], report["n_failed"]) == (n, 0)
    repeated = loopback.stats()["arrived"] - n
    assert 0 <= repeated <= in_flight * len(killed)
    assert sum(spent["n_calls"] for spent in report["spending"]) == n


@pytest.mark.deep
def test_a_driver_that_is_killed_resumes_and_repeats_at_most_what_was_in_flight(live, loopback, cluster):
    n, in_flight = 400, 20
    project = live(n)
    loopback.configure(body="mcq", latency_ms=100)
    command = ["run", "task.yaml", "--model", "stub", "--executor", "ray", "--max-concurrency", str(in_flight)]
    process = project.start(*command, RAY_ADDRESS=cluster)
    deadline = time.monotonic() + 90
    while loopback.stats()["arrived"] < 60 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    # the actors of a dead driver ask on for a moment at the most: Ray ends them with it
    time.sleep(1)
    report = run(project, "--model", "stub", "--executor", "ray", "--max-concurrency", str(in_flight))
    assert (report["n_samples"], report["n_failed"]) == (n, 0)
    assert loopback.stats()["arrived"] - n <= 2 * in_flight


@pytest.mark.deep
def test_a_stopped_driver_keeps_what_was_answered(live, loopback, cluster):
    project = live(400)
    loopback.configure(body="mcq", latency_ms=100)
    command = ["run", "task.yaml", "--model", "stub", "--executor", "ray", "--max-concurrency", "20"]
    process = project.start(*command, RAY_ADDRESS=cluster)
    deadline = time.monotonic() + 90
    while loopback.stats()["arrived"] < 100 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "are kept" in " ".join(err.split())
    before = loopback.stats()["arrived"]
    report = run(project, "--model", "stub", "--executor", "ray")
    assert report["n_samples"] == 400
    assert loopback.stats()["arrived"] <= 400 + 20
    assert before >= 100


@pytest.mark.deep
def test_the_cost_ceiling_and_the_limits_of_a_model_hold_over_four_actors(live, loopback, cluster):
    project = live(300, max_concurrent_requests=7)
    loopback.configure(body="mcq", latency_ms=20)
    outcome = project.assay(
        "run", "task.yaml", "--model", "stub", "--json", "--executor", "ray", "--actors", "4", "--max-cost", "0.01"
    )
    assert outcome.code == 3, outcome.err
    assert outcome.json["status"] == "partial"
    assert 0 < outcome.json["cost_usd"] <= 0.01
    assert loopback.stats()["peak_inflight"] <= 7
    # every call that the server saw is in the store: nothing was paid and lost
    assert loopback.stats()["arrived"] == sum(spent["n_calls"] for spent in outcome.json["spending"])


@pytest.mark.deep
def test_replies_that_cost_more_than_was_reserved_stop_new_calls(live, loopback, cluster):
    project = live(400, max_concurrent_requests=8)
    # the task asks for ten tokens at most
    loopback.configure(body="auto", text="much too long " * 200, latency_ms=20)
    outcome = project.assay(
        "run", "task.yaml", "--model", "stub", "--json", "--executor", "ray", "--actors", "4", "--max-cost", "0.02"
    )
    assert outcome.code == 3, outcome.err
    (spent,) = outcome.json["spending"]
    per_call = outcome.json["cost_usd"] / spent["n_calls"]
    assert outcome.json["cost_usd"] <= 0.02 + 8 * per_call
    assert spent["n_calls"] == loopback.stats()["arrived"] < 400


@pytest.mark.deep
def test_a_model_that_is_down_stops_a_run_on_ray_as_it_does_here(live, loopback, cluster):
    project = live(60)
    loopback.configure(fail_first=1_000_000, fail_status=401)
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--executor", "ray")
    assert outcome.code == 3
    assert "401" in outcome.err
    assert loopback.stats()["arrived"] <= 30


@pytest.mark.deep
def test_actors_that_cannot_be_placed_are_an_error_that_says_what_is_free(live, cluster, monkeypatch):
    monkeypatch.setattr(ray_pool, "START_TIMEOUT_S", 2)
    project = live(3, resources={"num_gpus": 1})
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--executor", "ray")
    assert outcome.code == 3
    words = " ".join(outcome.err.split())
    assert "did not start 2 actors within 2 s; each needs 1 CPU, 1 GPU" in words
    assert "use fewer --actors or a larger cluster" in words


@pytest.mark.deep
def test_an_actor_with_another_version_of_assay_is_refused(live, cluster, monkeypatch):
    job = ray_worker.Job
    monkeypatch.setattr(ray_worker, "Job", lambda **fields: job(**fields, version="9.9"))
    project = live(3)
    outcome = project.assay("run", "task.yaml", "--model", "stub", "--executor", "ray")
    assert outcome.code == 3
    assert f"the actor runs assay {__version__}, the driver 9.9" in " ".join(outcome.err.split())


@pytest.mark.deep
def test_an_unreachable_cluster_is_one_line(live):
    project = live(3)
    outcome = project.spawn("run", "task.yaml", "--model", "stub", "--executor", "ray", RAY_ADDRESS="127.0.0.1:1")
    assert outcome.code == 3
    assert "the Ray cluster at 127.0.0.1:1 cannot be used" in " ".join(outcome.err.split())


def test_a_plan_says_how_the_work_is_split_and_imports_no_ray(live):
    project = live(3)
    arguments = ("plan", "task.yaml", "--model", "stub", "--executor", "ray", "--actors", "3")
    outcome = project.assay(*arguments, RAY_ADDRESS="")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("3 Ray actors on a Ray cluster that is started on this machine")


def test_scores_of_parts_are_joined_in_the_order_of_the_rows():
    failure = Failure(stage="score", kind="parse", detail="x")
    parts = [
        ScoreColumns(values={"a": [1, 2]}, metadata={}, failures={1: failure}),
        ScoreColumns(values={"a": [3], "b": [4]}, metadata={"m": ["x"]}, unsettled=frozenset({0})),
    ]
    joined = _joined(parts, [range(2), range(2, 3)])
    assert joined.values == {"a": [1, 2, 3], "b": [None, None, 4]}
    assert joined.metadata == {"m": [None, None, "x"]}
    assert joined.failures == {1: failure}
    assert joined.unsettled == {2}
