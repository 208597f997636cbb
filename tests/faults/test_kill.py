"""kill -9 at any moment: the same command finishes the rest, and pays only for what was not committed yet."""

import random
import re
import signal
import time

import pytest
from sqlalchemy import func, select

from assay.errors import AssayError
from assay.store import schema
from assay.store.store import open_for_reading

N = 2_000
KILLS = 20
IN_FLIGHT = 30
LATENCY_S = 0.1


def arguments():
    return ["run", "task.yaml", "--model", "stub", "--json", "--max-concurrency", str(IN_FLIGHT)]


def committed_calls(project):
    location = project.store or str(project.folder / ".assay" / "assay.db")
    try:
        store = open_for_reading(location)
    except AssayError:
        # the process was killed before it had created the store
        return 0
    try:
        with store.connect() as connection:
            return connection.execute(select(func.count()).select_from(schema.calls)).scalar()
    finally:
        store.close()


def content(project, *store):
    rows = project.assay("samples", "--json", *store).lines
    return [{key: row[key] for key in ("sample_id", "output", "scores", "failures", "trace")} for row in rows]


def test_twenty_kills_change_nothing_and_waste_almost_nothing(live, loopback):
    project = live(N)
    calm = project.assay(*arguments(), "--store", "calm.db")
    assert calm.code == 0, calm.err
    loopback.reset()
    loopback.configure(body="mcq", latency_ms=LATENCY_S * 1000)
    draw = random.Random(5)
    asked, committed = 0, 0
    for _ in range(KILLS):
        process = project.start(*arguments())
        wait_until_asking(loopback, process, more_than=asked)
        time.sleep(draw.uniform(0, 0.35))
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
        now_asked, now_committed = loopback.stats()["arrived"], committed_calls(project)
        lost = (now_asked - asked) - (now_committed - committed)
        # what was in flight, and the replies of a commit that was under way and of the next one
        assert 0 <= lost <= IN_FLIGHT + 4 * IN_FLIGHT
        asked, committed = now_asked, now_committed
    finished = project.assay(*arguments())
    assert finished.code == 0, finished.err
    assert loopback.stats()["arrived"] - asked == N - committed, "only what was not committed is asked again"
    assert committed_calls(project) == N
    assert finished.json["scorers"] == calm.json["scorers"]
    assert content(project) == content(project, "--store", "calm.db")


def wait_until_asking(loopback, process, more_than):
    while loopback.stats()["arrived"] <= more_than:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.005)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["ctrl-c", "sigterm", "sighup"])
def test_a_stop_ends_within_a_second_and_the_run_can_be_resumed(live, loopback, stop):
    project = live(N)
    loopback.configure(latency_ms=LATENCY_S * 1000)
    process = project.start(*arguments())
    wait_until_asking(loopback, process, more_than=100)
    stopped = time.monotonic()
    process.send_signal(stop)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - stopped < 3, "a second, and some patience with a busy machine"
    assert process.returncode == 130
    # one line, which a terminal may wrap but a log must not
    assert re.search(
        r"^stopped: [\d,]+ samples of run [0-9a-f]{12} are kept; the same command goes on from there", err, re.M
    )
    loopback.configure(latency_ms=0)
    finished = project.assay(*arguments())
    assert finished.code == 0
    assert finished.json["n_samples"] == N
    assert loopback.stats()["arrived"] <= N + 2 * IN_FLIGHT


def test_sigterm_stops_a_run_that_ignores_ctrl_c(live, loopback):
    # what a shell starts in the background ignores Ctrl-C
    project = live(N)
    loopback.configure(latency_ms=LATENCY_S * 1000)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = project.start(*arguments())
    finally:
        signal.signal(signal.SIGINT, before)
    wait_until_asking(loopback, process, more_than=100)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    loopback.configure(latency_ms=0)
    assert project.assay(*arguments()).code == 0
    assert loopback.stats()["arrived"] <= N + 2 * IN_FLIGHT
