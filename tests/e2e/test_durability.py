"""Stopping a run in any way loses nothing and repeats nothing."""

import random
import signal
import sqlite3
import time

import pytest

TASK = """
key: big
display_name: big
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  solver: {type: pass_through_solver, trace_column: output}
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.answer }}"
      metrics:
        - {type: mean, field: is_correct, name: Accuracy}
        - {type: cohens_kappa, field_gt: answer_gt, field_pred: answer_pred}
"""


def prepare(project, n):
    draw = random.Random(7)
    rows = [{"question": f"number {i}?", "answer": draw.choice("ab"), "output": draw.choice("aab")} for i in range(n)]
    project.write("data.jsonl", rows)
    project.write("task.yaml", TASK)


def numbers(outcome):
    assert outcome.code == 0, outcome.err
    document = outcome.json
    return document["n_samples"], document["scorers"]


def rows_in(project):
    connection = sqlite3.connect(project.folder / ".assay" / "assay.db")
    try:
        return connection.execute("SELECT count(*), count(DISTINCT id) FROM samples").fetchone()
    finally:
        connection.close()


def wait_for_rows(project, process, least):
    path = project.folder / ".assay" / "assay.db"
    while process.poll() is None:
        try:
            if path.exists() and rows_in(project)[0] >= least:
                return
        except sqlite3.OperationalError:
            pass
        time.sleep(0.01)
    pytest.fail("the run ended before it could be stopped")


def test_kill_9_loses_nothing_and_the_same_command_finishes_the_rest(project, tmp_path):
    n = 200_000
    prepare(project, n)
    undisturbed = numbers(project.assay("run", "task.yaml", "--json", "--store", str(tmp_path / "other.db")))
    for least in (5_000, 60_000):
        process = project.start("run", "task.yaml")
        wait_for_rows(project, process, least)
        process.kill()
        process.communicate()
    done = rows_in(project)[0]
    assert 0 < done < n
    finished = project.assay("run", "task.yaml", "--json")
    assert numbers(finished) == undisturbed
    assert finished.json["n_cached"] >= done
    assert rows_in(project) == (n, n)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(project):
    n = 150_000
    prepare(project, n)
    process = project.start("run", "task.yaml")
    wait_for_rows(project, process, 5_000)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    assert "Traceback" not in err
    (run,) = project.assay("runs", "--json").lines
    assert run["status"] == "interrupted"
    finished = project.assay("run", "task.yaml", "--json")
    assert finished.code == 0
    assert finished.json["run"] == run["run"]
    assert rows_in(project) == (n, n)


def test_an_unchanged_task_is_not_computed_again(project):
    prepare(project, 1_000)
    first = project.assay("run", "task.yaml", "--json")
    again = project.assay("run", "task.yaml", "--json")
    assert numbers(first) == numbers(again)
    assert (first.json["n_cached"], again.json["n_cached"]) == (0, 1_000)
    assert first.json["run"] != again.json["run"]
    assert rows_in(project) == (1_000, 1_000)
    assert "1,000 reused" in project.assay("show").out
    fresh = project.assay("run", "task.yaml", "--json", "--fresh")
    assert fresh.json["n_cached"] == 0
    assert rows_in(project) == (2_000, 2_000)


@pytest.mark.parametrize("change", ["data", "task", "limit", "seed"])
def test_any_change_of_content_is_a_new_run(project, change):
    prepare(project, 100)
    project.assay("run", "task.yaml")
    extra = {"limit": ["--limit", "50"], "seed": ["--seed", "1"]}.get(change, [])
    if change == "data":
        prepare(project, 101)
    if change == "task":
        project.write("task.yaml", TASK.replace("sample.answer", "sample.question"))
    assert project.assay("run", "task.yaml", "--json", *extra).json["n_cached"] == 0


def test_a_comment_in_the_task_changes_nothing(project):
    prepare(project, 100)
    project.assay("run", "task.yaml")
    project.write("task.yaml", "# a comment\n" + TASK)
    assert project.assay("run", "task.yaml", "--json").json["n_cached"] == 100
