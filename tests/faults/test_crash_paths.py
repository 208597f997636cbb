"""What an unexpected end leaves behind: nothing half-made, and an exit code that cannot be taken for a verdict."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

N = 30
CRASH = """
from assay.cli import main, show
def boom(*arguments, **options):
    raise ZeroDivisionError("division by \\x1b[31mzero")
show.command.callback = boom
main.main()
"""


def run(project, *options):
    return project.assay("run", "task.yaml", "--model", "stub", "--json", *options)


@pytest.mark.parametrize("traceback", [False, True])
def test_a_crash_exits_with_3_and_a_short_report(project, traceback):
    environment = {**os.environ, **({"ASSAY_TRACEBACK": "1"} if traceback else {})}
    command = [sys.executable, "-c", CRASH, "show", "latest"]
    crash = subprocess.run(
        command, cwd=project.folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert crash.returncode == 3
    assert "assay crashed: ZeroDivisionError: division by" in crash.stderr
    assert "\x1b" not in crash.stderr.partition("assay crashed")[2]
    assert ("Traceback" in crash.stderr) is traceback
    if not traceback:
        assert len(crash.stderr.splitlines()) == 3


@pytest.mark.sqlite
def test_a_rescore_that_fails_while_it_copies_leaves_no_run(live):
    project = live(N)
    assert run(project).code == 0
    path = project.folder / ".assay" / "assay.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON samples BEGIN SELECT RAISE(ABORT, 'there is no room'); END"
        )
    failed = project.assay("rescore", "latest", "task.yaml", "--json")
    assert failed.code == 3
    assert "there is no room" in failed.err
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER full")
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    connection.close()
    again = project.assay("rescore", "latest", "task.yaml", "--json")
    assert (again.code, again.json["n_samples"]) == (0, N)


@pytest.mark.sqlite
def test_latest_means_a_finished_run_when_it_is_rescored(live, loopback):
    project = live(N)
    finished = run(project).json["run"]
    loopback.configure(body="mcq", latency_ms=300)
    process = project.start("run", "task.yaml", "--model", "stub", "--fresh", "--max-concurrency", "2")
    deadline = time.monotonic() + 30
    while len(project.assay("runs", "--json").lines) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    under_way = project.assay("runs", "--json").lines[0]["run"]
    refused = project.assay("rescore", under_way, "task.yaml")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert refused.code == 2
    assert f"run {under_way} is running and has only some of its answers" in refused.err
    interrupted = project.assay("rescore", under_way, "task.yaml")
    assert interrupted.code == 2
    assert "is interrupted and has only some of its answers: run its command again" in interrupted.err
    rescored = project.assay("rescore", "latest", "task.yaml", "--json")
    assert (rescored.code, rescored.json["n_samples"]) == (0, N)
    assert project.assay("show", rescored.json["run"], "--json").json["provenance"]["source_run"] == finished


@pytest.mark.sqlite
def test_replies_without_content_stop_a_run_and_are_kept(live, loopback):
    project = live(1)
    project.write("data.jsonl", [{"question": f"[[null]] {n}", "answer": "A"} for n in range(300)])
    outcome = run(project, "--max-concurrency", "5")
    assert outcome.code == 3
    assert "replies of stub have no content (finish reason stop)" in outcome.err
    served = loopback.stats()["served"]
    assert 10 <= served <= 20
    assert run(project, "--max-concurrency", "5").code == 3
    # the replies that were paid for are not asked for again
    assert loopback.stats()["served"] - served <= 20
    with sqlite3.connect(project.folder / ".assay" / "assay.db") as connection:
        (kept,) = connection.execute("SELECT count(*) FROM calls").fetchone()
    # each of the two runs was stopped with fewer than five replies under way
    assert loopback.stats()["served"] - kept < 2 * 5
    connection.close()


def test_a_few_replies_without_content_stop_nothing(live):
    project = live(1)
    rows = [{"question": f"[[null]] {n}" if n % 2 else f"Question {n}", "answer": "A"} for n in range(60)]
    project.write("data.jsonl", rows)
    assert run(project).json["n_failed"] == 30
