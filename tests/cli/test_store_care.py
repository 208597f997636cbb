"""`assay store backup, copy, delete, prune, sql, tag, vacuum`: on SQLite and PostgreSQL."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select, update

from assay.store import runs, schema
from assay.store.store import open_for_reading, open_store

RECORDED = """
key: recorded
display_name: Recorded
definition:
  dataset: {source: {type: local, file_path: data.jsonl}}
  scorers:
    - {type: string_equals, value: "{{ sample.output }}", ground_truth: "{{ sample.answer }}"}
"""


@pytest.fixture
def recorded(project):
    project.write("data.jsonl", [{"output": "A", "answer": "AB"[n % 2]} for n in range(20)])
    project.write("task.yaml", RECORDED)
    return project


def run(project, *arguments):
    outcome = project.assay("run", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json


def location_of(project):
    return project.store or str(project.folder / ".assay" / "assay.db")


def count(project, table):
    store = open_for_reading(location_of(project))
    try:
        with store.connect() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar()
    finally:
        store.close()


def samples(project, name, **environment):
    outcome = project.assay("samples", name, "--json", "--limit", "1000", **environment)
    assert outcome.code == 0, outcome.err
    return outcome.out


def test_rows_that_another_run_shares_are_handed_over(recorded):
    first = run(recorded, "task.yaml")["run"]
    second, third = (run(recorded, "task.yaml")["run"] for _ in range(2))
    assert count(recorded, schema.samples) == 20
    before = samples(recorded, first)
    outcome = recorded.assay("store", "delete", first)
    assert outcome.code == 0, outcome.err
    assert "deleted 1 run, 0 samples" in outcome.out
    assert samples(recorded, second) == samples(recorded, third) == before
    assert recorded.assay("show", first).code == 2
    assert recorded.assay("store", "delete", second, third).code == 0
    assert count(recorded, schema.samples) == count(recorded, schema.scores) == count(recorded, schema.runs) == 0
    assert count(recorded, schema.metrics) == 0


def test_replies_that_another_run_used_are_kept_and_not_paid_again(live, loopback):
    project = live(12)
    first = run(project, "task.yaml", "--model", "model.yaml")["run"]
    # another run with the same questions, but another scorer's settings
    project.write("other.yaml", (project.folder / "task.yaml").read_text().replace("[A, B, C, D]", "[A, B, C, D, E]"))
    project.write("other.yaml", (project.folder / "other.yaml").read_text().replace("key: live", "key: other"))
    second = run(project, "other.yaml", "--model", "model.yaml", "--limit", "5")["run"]
    asked = loopback.stats()["arrived"]
    outcome = project.assay("store", "delete", first)
    assert "12 samples and 7 replies; kept for other runs: 5 replies" in outcome.out
    assert count(project, schema.calls) == 5
    project.write("third.yaml", (project.folder / "other.yaml").read_text().replace("key: other", "key: third"))
    run(project, "third.yaml", "--model", "model.yaml", "--limit", "5")
    assert loopback.stats()["arrived"] == asked
    assert project.assay("show", second).code == 0


def test_a_dry_run_deletes_nothing(recorded):
    first = run(recorded, "task.yaml")["run"]
    for arguments in (["delete", first], ["prune", "--keep", "0"]):
        outcome = recorded.assay("store", *arguments, "--dry-run")
        assert "1 run would be deleted" in outcome.out
        assert first in outcome.out
    assert recorded.assay("show", first).code == 0


@pytest.mark.parametrize(
    ("rules", "left"),
    [
        (["--keep", "1"], {"named", "newest"}),
        (["--keep", "0", "--named"], set()),
        (["--older-than", "30d"], {"named", "failed", "newest"}),
        (["--older-than", "30d", "--named"], {"failed", "newest"}),
        (["--status", "failed"], {"named", "old", "newest"}),
        (["--status", "failed", "--older-than", "30d"], {"named", "old", "failed", "newest"}),
        (["--tag", "nightly"], {"named", "failed", "newest"}),
        (["--older-than", "2026-01-02"], {"named", "old", "failed", "newest"}),
    ],
)
def test_prune_deletes_the_runs_that_meet_every_rule(recorded, rules, left):
    ids = {}
    for role, arguments in {
        "named": ["--name", "baseline"],
        "old": ["--tag", "nightly"],
        "failed": [],
        "newest": [],
    }.items():
        ids[role] = run(recorded, "task.yaml", "--fresh", *arguments)["run"]
    store = open_store(location_of(recorded))
    with store.begin() as connection:
        for role, values in {
            "named": {"started_at": "2026-02-01T00:00:00+00:00"},
            "old": {"started_at": "2026-02-01T00:00:00+00:00"},
            "failed": {"status": "failed"},
        }.items():
            connection.execute(update(schema.runs).where(schema.runs.c.id == ids[role]).values(**values))
    store.close()
    outcome = recorded.assay("store", "prune", *rules)
    assert outcome.code == 0, outcome.err
    there = {line["run"] for line in recorded.assay("runs", "--json").lines}
    assert there == {ids[role] for role in left}


def test_prune_needs_a_rule_and_a_run_that_is_worked_on_is_spared(recorded):
    assert "give at least one of" in recorded.assay("store", "prune").err
    run_id = run(recorded, "task.yaml")["run"]
    store = open_store(location_of(recorded))
    with store.begin() as connection:
        values = {"status": "running", "owner": "elsewhere:1:2", "heartbeat_at": runs.now()}
        connection.execute(update(schema.runs).values(**values))
    store.close()
    assert "no run meets these rules" in recorded.assay("store", "prune", "--keep", "0").out
    refused = recorded.assay("store", "delete", run_id)
    assert refused.code == 2
    assert "is being worked on" in refused.err


def test_a_backup_is_a_store_of_its_own(recorded):
    run_id = run(recorded, "task.yaml")["run"]
    outcome = recorded.assay("store", "backup", "copy.db")
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in recorded.folder.glob("copy*")) == ["copy.db"]
    assert samples(recorded, run_id, ASSAY_STORE="copy.db") == samples(recorded, run_id)
    refused = recorded.assay("store", "backup", "copy.db")
    assert refused.code == 2
    assert "--force" in refused.err
    assert recorded.assay("store", "backup", "copy.db", "--force").code == 0
    assert recorded.assay("store", "backup", "no/such/folder.db").code == 2


def test_a_copied_run_is_verified_and_copied_once(recorded, new_location):
    run_id = run(recorded, "task.yaml")["run"]
    target = new_location()
    for words in ("copied and verified", "was there already"):
        outcome = recorded.assay("store", "copy", "latest", "--to", target)
        assert outcome.code == 0, outcome.err
        assert words in outcome.out
    assert samples(recorded, run_id, ASSAY_STORE=target) == samples(recorded, run_id)
    shows = [
        recorded.assay("show", run_id, "--json", "--store", store).json for store in (location_of(recorded), target)
    ]
    assert shows[0] == shows[1]
    assert recorded.assay("store", "copy", "latest", "--to", location_of(recorded)).code == 2


def test_a_run_moves_to_postgres_and_back(recorded, postgres, request):
    run_id = run(recorded, "task.yaml")["run"]
    url = f"{postgres}{'&' if '?' in postgres else '?'}project=moves_{abs(hash(request.node.nodeid))}"
    assert recorded.assay("store", "copy", run_id, "--to", url).code == 0
    assert recorded.assay("store", "copy", run_id, "--store", url, "--to", "back.db").code == 0
    assert samples(recorded, run_id, ASSAY_STORE="back.db") == samples(recorded, run_id)


test_a_run_moves_to_postgres_and_back = pytest.mark.deep(test_a_run_moves_to_postgres_and_back)


def test_names_and_tags_change_and_the_identity_does_not(recorded):
    first = run(recorded, "task.yaml", "--tag", "a")["run"]
    outcome = recorded.assay("store", "tag", first, "--add", "b", "--remove", "a", "--name", "base")
    assert outcome.code == 0, outcome.err
    (row,) = recorded.assay("runs", "--json").lines
    assert (row["name"], row["tags"]) == ("base", ["b"])
    assert recorded.assay("show", "base").code == 0
    assert recorded.assay("store", "tag", first, "--no-name").code == 0
    assert recorded.assay("runs", "--json").lines[0]["name"] is None
    assert run(recorded, "task.yaml")["n_cached"] == 20
    refused = recorded.assay("store", "tag", first, "--remove", "zzz")
    assert refused.code == 2
    assert 'no tag "zzz"; its tags: b' in refused.err
    assert recorded.assay("store", "tag", first, "--name", "latest").code == 2
    assert recorded.assay("store", "tag", first).code == 2


def test_vacuum_makes_the_file_of_a_store_smaller(recorded):
    recorded.write("data.jsonl", [{"output": "A" * 2000, "answer": "A"} for _ in range(2000)])
    run_id = run(recorded, "task.yaml")["run"]
    assert recorded.assay("store", "delete", run_id).code == 0
    outcome = recorded.assay("store", "vacuum")
    assert outcome.code == 0, outcome.err
    if recorded.store is None:
        before, after = (float(text.split(" MB")[0]) for text in outcome.out.split(", "))
        assert after < before / 5


def test_the_printed_sql_makes_a_store(recorded, new_location):
    import sqlite3

    location = new_location()
    statements = recorded.assay("store", "sql", "--store", location).out
    if location.startswith("postgresql"):
        import psycopg

        from assay.store.postgres import address_of

        with psycopg.connect(address_of(location).conninfo, autocommit=True) as connection:
            connection.execute(statements)
    else:
        connection = sqlite3.connect(location)
        connection.executescript(statements)
        connection.close()
    assert run(recorded, "task.yaml", "--store", location)["n_samples"] == 20
    assert recorded.assay("store", "sql", "--store", location).out == ""
    assert json.loads(recorded.assay("store", "info", "--json", "--store", location).out)["up_to_date"]


@pytest.mark.parametrize("command", [["delete", "x"], ["prune", "--keep", "1"], ["tag", "x", "--add", "y"], ["vacuum"]])
def test_maintenance_creates_no_store(recorded, command):
    outcome = recorded.assay("store", *command)
    assert outcome.code == 2
    assert "no store at" in outcome.err
