"""`assay store`, and what every command does with stores that are old, foreign or read-only."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from alembic import command
from sqlalchemy import create_engine

from assay.store.migrate import configuration
from assay.store.schema import SCHEMA_VERSION

READING = {
    "runs": ["runs"],
    "show": ["show", "latest"],
    "samples": ["samples"],
    "export": ["export", "--to", "out.jsonl"],
    "compare": ["compare", "latest", "latest"],
    "gate": ["gate", "--require", "Accuracy >= 0"],
    "agreement": ["agreement"],
    "calibrate": ["calibrate", "--labels", "labels.csv"],
    "power": ["power", "latest"],
    "plan": ["plan", "task.yaml"],
    "info": ["store", "info"],
}


def files(folder):
    """The bytes and times of the files in a folder."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.fixture
def older(recorded):
    """A project whose store has the first schema."""
    path = recorded.folder / ".assay" / "assay.db"
    engine = create_engine(f"sqlite:///{path}")
    config = configuration()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    engine.dispose()
    return path


@pytest.mark.parametrize("arguments", READING.values(), ids=READING.keys())
def test_reading_leaves_the_folder_of_the_store_as_it_was(cli, recorded, arguments):
    assert cli("run", "task.yaml", "--max-failures", "1").code == 0
    before = files(recorded.folder / ".assay")
    cli(*arguments)
    assert files(recorded.folder / ".assay") == before


@pytest.mark.parametrize("arguments", READING.values(), ids=READING.keys())
def test_reading_creates_no_store(cli, recorded, arguments):
    said = cli(*arguments)
    assert list((recorded.folder / ".assay").iterdir()) == []
    if arguments[0] != "plan":
        assert (said.code, said.out) == (2, "")
        assert "there is no store at" in said.err


@pytest.mark.parametrize("name", [name for name in READING if name != "info"])
def test_reading_an_older_store_names_the_command_that_migrates_it(cli, older, name):
    before = files(older.parent)
    said = cli(*READING[name])
    assert (said.code, said.out) == (3, "")
    assert said.err == (
        f"the store {older} has the older schema 0001, and this assay reads {SCHEMA_VERSION}: "
        f"`assay store migrate --store {older}` backs it up and brings it up to date\n"
    )
    assert files(older.parent) == before


@pytest.mark.parametrize("arguments", [*READING.values(), ["run", "task.yaml"], ["store", "migrate"]], ids=" ".join)
def test_a_foreign_database_is_refused_by_every_command(cli, recorded, arguments):
    path = recorded.folder / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE invoices (x)")
    before = files(recorded.folder / ".assay"), path.read_bytes(), path.stat().st_mtime_ns
    said = cli(*arguments, "--store", "other.db")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(f"{path} is a database of another application (it holds invoices), not a store")
    assert said.err.count("\n") == 1
    assert (files(recorded.folder / ".assay"), path.read_bytes(), path.stat().st_mtime_ns) == before
    assert sorted(file.name for file in recorded.folder.glob("other.db*")) == ["other.db"]


def test_a_command_that_writes_migrates_and_says_where_the_backup_is(cli, older):
    said = cli("run", "task.yaml", "--json", "--max-failures", "1")
    assert said.code == 0
    (backup,) = older.parent.glob("*.backup-0001-*")
    assert f"from schema 0001 to {SCHEMA_VERSION}; the backup is {backup}" in said.err
    assert said.json["n_samples"] == 4


def test_rescoring_migrates_too(cli, older):
    said = cli("rescore", "latest", "task.yaml")
    assert said.code == 2
    assert "migrated the store" in said.err
    assert 'no run "latest"' in said.err


def test_migrate_says_what_it_did_and_then_that_nothing_is_left_to_do(cli, older):
    said = cli("store", "migrate")
    (backup,) = older.parent.glob("*.backup-0001-*")
    words = f"migrated the store {older} from schema 0001 to {SCHEMA_VERSION}; the backup is {backup}\n"
    assert (said.code, said.out, said.err) == (0, words, "")
    again = cli("store", "migrate")
    assert (again.code, again.out) == (0, f"the store {older} is up to date (schema {SCHEMA_VERSION})\n")
    assert sorted(file.name for file in older.parent.iterdir()) == [".gitignore", "assay.db", backup.name]


def test_migrate_creates_no_store(cli, recorded):
    said = cli("store", "migrate")
    assert said.code == 2
    assert "there is no store at" in said.err
    assert list((recorded.folder / ".assay").iterdir()) == []


def test_info_says_what_is_in_the_store(cli, recorded):
    cli("run", "task.yaml")
    path = recorded.folder / ".assay" / "assay.db"
    with closing(sqlite3.connect(path)) as connection:
        for number, cost in enumerate(["0.1", "0.2", "0.2", None]):
            values = (bytes([number]), 1, "m", "answer", b"", "{}", 1, 1, cost, None, "2026-01-01")
            connection.execute(f"INSERT INTO calls VALUES ({', '.join('?' * 11)})", values)
        connection.commit()
        started = connection.execute("SELECT started_at FROM runs").fetchone()[0]
    document = cli("store", "info", "--json").json
    n_votes = document.pop("n_votes")
    assert n_votes in (None, 0), "the table came with a later schema"
    assert document == {
        "path": str(path),
        "size_bytes": path.stat().st_size,
        "schema_version": SCHEMA_VERSION,
        "newest_schema_version": SCHEMA_VERSION,
        "up_to_date": True,
        "n_runs": 1,
        "n_samples": 4,
        "n_calls": 4,
        "cost_usd": 0.5,
        "n_calls_without_price": 1,
        "oldest_run_at": started,
        "newest_run_at": started,
    }
    out = cli("store", "info").out
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["store"] == str(path)
    assert lines["schema"] == f"{SCHEMA_VERSION} (up to date)"
    assert (lines["runs"], lines["samples"], lines["calls"]) == ("1", "4", "4")
    assert lines["cost"] == "$0.5000, plus 1 call of unknown price"
    assert f"{started[:10]} {started[11:16]} (oldest run)" in lines["started"]


def test_info_reads_an_older_store_as_it_is(cli, older):
    before = files(older.parent)
    said = cli("store", "info")
    assert said.code == 0
    assert f"0001 (older than {SCHEMA_VERSION}: `assay store migrate --store " in said.out
    assert "calls" not in said.out, "the first schema had no such table"
    assert cli("store", "info", "--json").json["up_to_date"] is False
    assert files(older.parent) == before


def test_info_reads_a_newer_store_as_far_as_it_knows_it(cli, recorded):
    cli("run", "task.yaml")
    with closing(sqlite3.connect(recorded.folder / ".assay" / "assay.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    said = cli("store", "info")
    assert said.code == 0
    assert "9999 (newer than" in said.out
    assert cli("store", "migrate").code == 3
    assert "newer assay" in cli("runs").err


def test_an_unknown_command_of_the_group_gets_the_nearest_name(cli):
    said = cli("store", "inof")
    assert said.code == 2
    assert 'no such command "inof"; did you mean "info"?' in said.err
