"""Migrations: backed up, all or nothing, one process at a time."""

from __future__ import annotations

import gzip
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from assay.errors import StoreError
from assay.store import runs
from assay.store.migrate import configuration
from assay.store.schema import SCHEMA_VERSION
from assay.store.sqlite_file import APPLICATION_ID, stored_version
from assay.store.store import bring_up_to_date, open_for_reading, open_store

VERSIONS = sorted(script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions())
OLDER = VERSIONS[:-1]
STORES = Path(__file__).parent / "fixtures" / "0003" / "stores"


def test_versions_are_numbers_of_four_digits_whose_last_is_the_schemas():
    assert [f"{number:04}" for number in range(1, len(VERSIONS) + 1)] == VERSIONS
    assert VERSIONS[-1] == SCHEMA_VERSION


@pytest.mark.parametrize("version", OLDER)
def test_an_older_store_is_not_read_but_the_command_named(older_store, snapshot, version):
    path = older_store(version)
    before = snapshot(path.parent)
    with pytest.raises(StoreError) as raised:
        open_for_reading(str(path))
    assert f"older schema {version}" in str(raised.value)
    assert "`assay store migrate --store " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 3
    assert snapshot(path.parent) == before


@pytest.mark.parametrize("version", OLDER)
def test_writing_migrates_an_older_store_after_a_backup(older_store, capsys, version):
    path = older_store(version)
    before = dump(path)
    store = open_store(str(path))
    tables = inspect(store.engine).get_table_names()
    store.close()
    fresh = open_store(str(path.with_name("fresh.db")))
    assert tables == inspect(fresh.engine).get_table_names()
    fresh.close()
    (backup,) = path.parent.glob(f"old.db.backup-{version}-*")
    told = capsys.readouterr()
    words = f"migrated the store {path} from schema {version} to {SCHEMA_VERSION}; the backup is {backup}\n"
    assert (told.out, told.err) == ("", words)
    assert dump(backup) == before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT id FROM runs").fetchall() == [("abc",)]
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def dump(path):
    """The version and the rows of a store."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_backup_can_take_the_place_of_the_store(older_store):
    path = older_store()
    migration = bring_up_to_date(str(path))
    migration.backup.replace(path)
    assert stored_version(path) == "0001"
    open_store(str(path)).close()
    assert stored_version(path) == SCHEMA_VERSION


def test_a_store_that_is_up_to_date_is_not_backed_up(tmp_path, capsys):
    open_store(str(tmp_path / "s.db")).close()
    assert bring_up_to_date(str(tmp_path / "s.db")) is None
    open_store(str(tmp_path / "s.db")).close()
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]
    assert capsys.readouterr().err == ""


def test_without_a_backup_nothing_is_migrated(older_store, monkeypatch):
    from assay.store import sqlite_file

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sqlite_file, "flush", full)
    path = older_store()
    before = dump(path)
    with pytest.raises(StoreError, match="could not be copied before its migration, and was left as it is"):
        open_store(str(path))
    assert dump(path) == before


def test_a_migration_that_fails_changes_nothing_and_says_where_the_backup_is(older_store):
    path = older_store()
    with closing(sqlite3.connect(path)) as connection:
        # the migration to 0003 creates a table of this name, after that to 0002 has changed two
        connection.execute("CREATE TABLE settings (x)")
    before = dump(path)
    with pytest.raises(StoreError, match=r"left as it is: table settings already exists; the backup is .*backup-0001"):
        open_store(str(path))
    assert dump(path) == before


def test_a_version_that_never_was_is_told(older_store):
    path = older_store()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
        connection.commit()
    with pytest.raises(StoreError, match="cannot be migrated from schema 0000, and was left as it is"):
        open_store(str(path))


KILLED = """
import os, signal, sys
from sqlalchemy import Engine, event
from assay.store.store import open_store

path, left = sys.argv[1], int(sys.argv[2])

@event.listens_for(Engine, "after_cursor_execute")
def count(connection, cursor, statement, *more):
    global left
    if statement.split()[0] not in ("BEGIN", "PRAGMA", "SELECT"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

open_store(path).close()
"""


def test_a_migration_killed_after_any_statement_leaves_the_old_store_or_the_new(older_store):
    killed = 0
    for statements in range(1, 100):
        path = older_store(name=f"{statements}.db")
        before = dump(path)
        process = subprocess.run([sys.executable, "-c", KILLED, str(path), str(statements)], capture_output=True)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, process.stderr
        killed += 1
        assert stored_version(path) == "0001"
        assert dump(path) == before
        assert list(path.parent.glob(f"{path.name}.backup-0001-*")), "the backup is complete before anything changes"
        # the lock of the dead process is no obstacle
        open_store(str(path)).close()
        assert stored_version(path) == SCHEMA_VERSION
    assert stored_version(path) == SCHEMA_VERSION
    # for each of the migrations at least one change and the new version
    assert killed >= 2 * len(OLDER)


TOGETHER = """
import sys
from assay.store.store import open_store

folder, n = sys.argv[1], int(sys.argv[2])
for number in range(n):
    # both processes wait for the same line before each store
    print("ready", flush=True)
    sys.stdin.readline()
    store = open_store(f"{folder}/{number}.db")
    with store.begin() as connection:
        connection.exec_driver_sql("INSERT INTO settings VALUES (hex(randomblob(8)), 'here')")
    store.close()
print("done", flush=True)
"""


def together(folder, n):
    """Open the same stores in two processes at the same moments."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TOGETHER, str(folder), str(n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for _ in range(n):
        for process in processes:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
    ends = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ends
    return "".join(err for _, err in ends)


def test_two_processes_create_the_same_store_a_hundred_times(tmp_path):
    assert together(tmp_path, 100) == ""
    for number in range(100):
        with closing(sqlite3.connect(tmp_path / f"{number}.db")) as connection:
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(SCHEMA_VERSION,)]
            assert connection.execute("SELECT count(*) FROM settings").fetchone() == (2,)
    assert len(list(tmp_path.iterdir())) == 100, "locks or side files are left behind"


def test_of_two_processes_that_migrate_the_same_store_one_does_it(older_store):
    paths = [older_store(name=f"{number}.db") for number in range(10)]
    told = together(paths[0].parent, 10)
    assert told.count("migrated the store") == 10
    for path in paths:
        assert stored_version(path) == SCHEMA_VERSION
        assert len(list(path.parent.glob(f"{path.name}.backup-*"))) == 1


@pytest.mark.parametrize("version", OLDER)
def test_a_migrated_store_has_the_schema_of_a_new_one(older_store, version):
    path = older_store(version)
    bring_up_to_date(str(path))
    open_store(str(path.with_name("fresh.db"))).close()
    migrated, fresh = (described(each) for each in (path, path.with_name("fresh.db")))
    assert migrated == fresh


def described(path):
    """Columns and indexes of every table: name, type, null, default and place in the key."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: sorted(connection.execute(f"PRAGMA table_info({table})")) for table in tables}
        indexes = {
            table: sorted(
                (unique, sorted(column for *_, column in connection.execute(f"PRAGMA index_info({name})")))
                for _, name, unique, *_ in connection.execute(f"PRAGMA index_list({table})")
            )
            for table in tables
        }
    return {table: [column[1:] for column in rows] for table, rows in columns.items()}, indexes


def test_names_of_older_runs_move_into_their_columns(older_store):
    path = older_store("0004")
    spec = '{"name": "v1", "tags": ["é"], "evaluation": "e", "specification": "s", "repeat": 2}'
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE runs SET spec = ?", (spec,))
        connection.commit()
    bring_up_to_date(str(path))
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT name, tags, evaluation, specification, repeat FROM runs").fetchone()
    assert row == ("v1", '["é"]', "e", "s", 2)


@pytest.mark.parametrize("name", sorted(path.name for path in STORES.glob("*.db.gz")))
def test_runs_of_a_store_of_schema_0003_are_found_and_read_after_its_migration(tmp_path, name):
    path = tmp_path / "old.db"
    path.write_bytes(gzip.decompress((STORES / name).read_bytes()))
    open_store(str(path)).close()
    store = open_for_reading(str(path))
    records = runs.all_runs(store, None, steps=True)
    assert records
    for record in records:
        assert runs.find(store, record.id) == record
        assert (record.name, record.tags, record.specification) == (None, (), None)
        assert record.repeat == record.spec.repeat
    store.close()
