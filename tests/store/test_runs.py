"""Runs: named by prefix, taken over only from the dead, closed with their numbers."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from assay.errors import RunError, SpecError
from assay.store import runs, schema
from assay.store.run_spec import RunSpec

NEW = runs.NewRun(identity="abc", file="t.yaml", model=None, spec=RunSpec(kind="run", task="t"))


def owned_by(store, record, owner, heartbeat_at=None):
    with store.begin() as connection:
        values = {"owner": owner, "heartbeat_at": heartbeat_at or runs.now()}
        connection.execute(update(schema.runs).where(schema.runs.c.no == record.no).values(**values))
    return runs.find(store, record.id)


def test_a_run_is_found_by_its_id_a_prefix_or_latest(store):
    first, second = runs.start(store, NEW), runs.start(store, NEW)
    assert runs.find(store, first.id).no == first.no
    assert runs.find(store, first.id[:8]).no == first.no
    assert runs.find(store, "latest").no == second.no
    assert [r.no for r in runs.all_runs(store, 10)] == [second.no, first.no]


def test_an_unknown_or_ambiguous_name_is_an_error_that_helps(store):
    with pytest.raises(SpecError, match="there is none yet"):
        runs.find(store, "latest")
    made = [runs.start(store, NEW) for _ in range(2)]
    with pytest.raises(SpecError, match="could be any of these runs") as error:
        runs.find(store, "")
    assert all(record.id in str(error.value) for record in made)
    with pytest.raises(SpecError, match="`assay runs` lists"):
        runs.find(store, "zz")
    with pytest.raises(SpecError, match="no run"):
        runs.find(store, "%")


def test_the_newest_run_of_the_same_content_is_known(store):
    assert runs.latest_of(store, "abc") is None
    runs.start(store, NEW)
    second = runs.start(store, NEW)
    found = runs.latest_of(store, "abc")
    assert found is not None
    assert found.no == second.no


def test_a_run_of_a_dead_process_is_taken_over(store):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host = runs._me().split(":")[0]
    record = owned_by(store, runs.start(store, NEW), f"{host}:{gone.pid}:1")
    assert runs.claim(store, record).owner == runs._me()


def test_a_run_of_a_live_process_is_refused(store):
    host = runs._me().split(":")[0]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        owner = f"{host}:{other.pid}:{runs._started(other.pid)}:2026-11-18T20:00:00Z"
        record = owned_by(store, runs.start(store, NEW), owner)
        with pytest.raises(RunError, match=r"is being worked on by process .* on .* since 20"):
            runs.claim(store, record)
        other.communicate(b"\n")


def test_a_number_reused_by_another_process_does_not_count_as_alive(store):
    host = runs._me().split(":")[0]
    record = owned_by(store, runs.start(store, NEW), f"{host}:{os.getppid()}:0")
    assert runs.claim(store, record).status == "running"


@pytest.mark.parametrize(("age_s", "refused"), [(1, True), (120, False)])
def test_on_another_machine_the_heartbeat_decides(store, age_s, refused):
    beat = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
    record = owned_by(store, runs.start(store, NEW), "elsewhere:1:1", beat)
    if refused:
        with pytest.raises(RunError, match="elsewhere"):
            runs.claim(store, record)
    else:
        assert runs.claim(store, record).owner == runs._me()


def test_two_processes_cannot_both_take_over(store):
    record = owned_by(store, runs.start(store, NEW), "elsewhere:1:1", "2020-01-01T00:00:00+00:00")
    runs.claim(store, record)
    with pytest.raises(RunError, match="just now"):
        runs.claim(store, record)


def test_finishing_writes_the_numbers_once(store):
    record = runs.start(store, NEW)
    document = {"place": 0, "scorer": "s", "metric": "mean", "type": "mean", "document": "{}"}
    for _ in range(2):
        runs.finish(store, record.no, status="completed", summary="{}", documents=[document])
    closed = runs.find(store, record.id)
    assert (closed.status, closed.owner, closed.summary) == ("completed", None, "{}")
    assert [tuple(row) for row in runs.metric_documents(store, record.no)] == [("s", "mean", "mean", "{}")]


def test_a_step_of_something_else_is_never_the_latest(store):
    from dataclasses import replace

    own = runs.start(store, NEW)
    for _ in range(45):
        probe = runs.start(store, replace(NEW, spec=RunSpec(kind="audit", task="t")))
    assert runs.find(store, "latest").no == own.no
    assert [record.no for record in runs.all_runs(store, 5)] == [own.no]
    assert len(runs.all_runs(store, 100, steps=True)) == 46
    assert runs.find(store, probe.id).kind == "audit"


def named(task="t", **names):
    return runs.NewRun(spec=RunSpec(kind=names.pop("kind", "run"), task=task, **names), file="f", model=None)


def test_names_come_in_their_order(store):
    plain = runs.start(store, named())
    first, second = (runs.start(store, named(name="v2", tags=("nightly",))) for _ in range(2))
    part = runs.start(store, named(evaluation="e", specification="short"))
    runs.start(store, named(evaluation="e", specification="short", repeat=1))
    other = runs.start(store, named(task="other"))
    assert runs.find(store, "v2").no == second.no
    assert runs.find(store, "short").no == part.no, "the result of a specification is its first run"
    assert runs.find(store, "t@latest").no == part.no + 1
    assert runs.find(store, "latest").no == other.no
    # a full id beats a name, a name a specification, a specification a prefix
    runs.start(store, named(name=plain.id))
    assert runs.find(store, plain.id).no == plain.no
    called = runs.start(store, named(name="short"))
    assert runs.find(store, "short").no == called.no
    prefix = first.id[:7]
    step = runs.start(store, named(specification=prefix))
    assert runs.find(store, prefix).no == step.no
    record = runs.find(store, "v2")
    assert (record.name, record.tags, record.spec.name) == ("v2", ("nightly",), "v2")


def test_a_name_that_is_nearly_right_is_suggested(store):
    runs.start(store, named(task="support", name="baseline"))
    for wrong, meant in (("basline", "baseline"), ("suport@latest", "support@latest")):
        with pytest.raises(SpecError, match=f'did you mean "{meant}"'):
            runs.find(store, wrong)


@pytest.mark.parametrize("name", ["latest", "t@latest", "", " v2", "a\nb", "x" * 101])
def test_a_name_that_could_not_be_used_is_refused(store, name):
    with pytest.raises(SpecError, match="cannot be the name of a run"):
        runs.start(store, named(name=name))


def test_names_do_not_change_the_identity():
    assert named(name="v2", tags=("a",), evaluation="e", specification="s").spec.identity() == named().spec.identity()


def test_a_run_that_is_taken_up_again_gets_the_new_name_and_keeps_the_old_without_one(store):
    record = runs.start(store, named(name="v1", tags=("a",)))
    assert runs.rename(store, record, named().spec).name == "v1"
    again = runs.rename(store, record, named(name="v2").spec)
    assert (again.name, again.spec.name, again.tags) == ("v2", "v2", ("a",))


def test_settings_in_which_runs_of_a_task_differ_are_known(store):
    specs = [named(config={"lang": "de", "n": 1}), named(config={"lang": "en", "n": 1}), named(task="other")]
    records = [runs.start(store, spec) for spec in specs]
    assert runs.differing(records) == [{"lang": "de"}, {"lang": "en"}, {}]
