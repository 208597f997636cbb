"""The file of a store: told from other files, read without a trace, locked, copied."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from assay.errors import StoreError
from assay.store import sqlite_file
from assay.store.schema import SCHEMA_VERSION
from assay.store.sqlite_file import APPLICATION_ID, back_up, exclusive, stored_version
from assay.store.store import bring_up_to_date, open_for_reading, open_store

FOREIGN = {
    "tables of its own": [],
    "migrated by Alembic too": [
        "CREATE TABLE alembic_version (version_num)",
        "INSERT INTO alembic_version VALUES ('ae1027a6acf')",
        "CREATE TABLE runs (x)",
    ],
    "migrated by Alembic under a number that is ours too": [
        "CREATE TABLE alembic_version (version_num)",
        "INSERT INTO alembic_version VALUES ('0001')",
        "CREATE TABLE users (x)",
    ],
    "tables with our names": ["CREATE TABLE runs (x)", "CREATE TABLE samples (x)"],
    "an empty one, marked as another's": ["PRAGMA application_id = 252006674"],
    "our tables, marked as another's": [
        "PRAGMA application_id = 252006674",
        "CREATE TABLE alembic_version (version_num)",
        "INSERT INTO alembic_version VALUES ('0001')",
        "CREATE TABLE runs (x)",
        "CREATE TABLE samples (x)",
    ],
    "only a view": ["CREATE VIEW one AS SELECT 1"],
}


@pytest.mark.parametrize("opening", [open_store, open_for_reading])
@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_database_of_another_application_is_refused_untouched(foreign_database, snapshot, opening, statements):
    path = foreign_database(*statements)
    before = snapshot(path.parent)
    with pytest.raises(StoreError, match=r"other\.db is a database of another application.*give another --store"):
        opening(str(path))
    assert snapshot(path.parent) == before, "changed, or -wal and -shm left behind"


def test_a_foreign_database_is_named_by_what_it_holds(foreign_database):
    path = foreign_database(*(f"CREATE TABLE t{number} (x)" for number in range(5)))
    with pytest.raises(StoreError, match=r"\(it holds t0, t1, t2, \.\.\.\)"):
        stored_version(path)


@pytest.mark.parametrize("opening", [open_store, open_for_reading])
@pytest.mark.parametrize("content", [b"x", b"not a database\n" * 1000, b"SQLite format 3"])
def test_a_file_that_is_no_database_is_refused_untouched(tmp_path, snapshot, opening, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    before = snapshot(tmp_path)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used: file is not a database"):
        opening(str(path))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("opening", [open_store, open_for_reading])
def test_a_folder_is_no_store(tmp_path, opening):
    with pytest.raises(StoreError, match="it is a folder"):
        opening(str(tmp_path))


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    assert stored_version(path) is None
    open_store(str(path)).close()
    assert stored_version(path) == SCHEMA_VERSION


def test_a_store_whose_creation_was_killed_is_completed(tmp_path):
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        connection.execute("CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    assert stored_version(path) is None
    open_store(str(path)).close()
    assert stored_version(path) == SCHEMA_VERSION


def test_a_new_store_is_marked_as_ours(tmp_path):
    open_store(str(tmp_path / "s.db")).close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_store_from_before_the_mark_is_known_by_its_tables(tmp_path):
    open_store(str(tmp_path / "s.db")).close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        connection.execute("PRAGMA application_id = 0")
    assert stored_version(tmp_path / "s.db") == SCHEMA_VERSION


def test_a_look_that_a_writer_disturbs_is_taken_again_under_locks(tmp_path, monkeypatch):
    path = tmp_path / "s.db"
    open_store(str(path)).close()
    real, looks = sqlite_file.connect_uri, []

    def torn_once(path, query):
        looks.append(query)
        if len(looks) == 1:
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error
        return real(path, query)

    monkeypatch.setattr(sqlite_file, "connect_uri", torn_once)
    assert stored_version(path) == SCHEMA_VERSION
    assert looks == ["mode=ro&immutable=1", "mode=ro"]


def marked(store, value=None):
    """What the settings say under "mark"; written first when a value is given."""
    with store.begin() if value else store.connect() as connection:
        if value:
            connection.execute(text("INSERT INTO settings VALUES ('mark', :value)"), {"value": value})
        return connection.execute(text("SELECT value FROM settings WHERE name = 'mark'")).scalar()


@pytest.fixture
def folder(tmp_path):
    """A folder with a store that says "here"."""
    folder = tmp_path / "folder"
    store = open_store(str(folder / "s.db"))
    marked(store, "here")
    store.close()
    return folder


def test_reading_leaves_no_trace(folder, snapshot):
    before = snapshot(folder)
    store = open_for_reading(str(folder / "s.db"))
    assert marked(store) == "here"
    store.close()
    assert snapshot(folder) == before


def test_a_store_for_reading_refuses_to_write(folder):
    store = open_for_reading(str(folder / "s.db"))
    with pytest.raises(StoreError, match="readonly"):
        marked(store, "there")
    store.close()


def test_a_reader_sees_what_a_writer_commits_meanwhile(folder):
    writer, reader = open_store(str(folder / "s.db")), open_for_reading(str(folder / "s.db"))
    assert marked(reader) == "here"
    with writer.begin() as connection:
        connection.execute(text("UPDATE settings SET value = 'there'"))
    assert marked(reader) == "there"
    reader.close()
    with writer.begin() as connection:
        connection.execute(text("UPDATE settings SET value = 'still there'"))
    writer.close()


def leave_changes_in_the_wal(path: Path) -> None:
    """A writer commits and is killed before SQLite moves the change into the database."""
    program = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "connection.execute(\"UPDATE settings SET value = 'pending'\")\n"
        "connection.commit()\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.with_name(f"{path.name}-wal").stat().st_size > 0


def test_what_a_killed_writer_committed_is_read_and_left_where_it_is(folder, snapshot):
    leave_changes_in_the_wal(folder / "s.db")
    before = snapshot(folder)
    store = open_for_reading(str(folder / "s.db"))
    assert marked(store) == "pending"
    store.close()
    assert {name: entry for name, entry in snapshot(folder).items() if name != "s.db-shm"} == {
        name: entry for name, entry in before.items() if name != "s.db-shm"
    }


def test_a_store_on_a_read_only_mount_is_read(folder, read_only):
    store = open_for_reading(str(read_only(folder) / "s.db"))
    assert marked(store) == "here"
    store.close()


@pytest.mark.parametrize("wal", ["empty", "with its index"])
def test_a_wal_file_on_a_read_only_mount_is_read_too(folder, read_only, wal):
    if wal == "empty":
        (folder / "s.db-wal").touch()
    else:
        leave_changes_in_the_wal(folder / "s.db")
    store = open_for_reading(str(read_only(folder) / "s.db"))
    assert marked(store) == ("here" if wal == "empty" else "pending")
    store.close()


def test_changes_that_a_read_only_mount_hides_are_told(folder, read_only):
    leave_changes_in_the_wal(folder / "s.db")
    (folder / "s.db-shm").unlink()
    with pytest.raises(StoreError, match=r"newest changes are still in s\.db-wal; copy both files to a folder"):
        open_for_reading(str(read_only(folder) / "s.db"))


@pytest.mark.parametrize("name", ["s.db", "new.db"])
def test_a_store_on_a_read_only_mount_is_refused_for_writing(folder, read_only, name):
    with pytest.raises(StoreError, match=f"{name} cannot be written: its folder is read-only for you"):
        open_store(str(read_only(folder) / name))


def test_an_older_store_on_a_read_only_mount_is_not_migrated(older_store, read_only):
    place = read_only(older_store().parent)
    with pytest.raises(StoreError, match="cannot be written: its folder is read-only for you"):
        bring_up_to_date(str(place / "old.db"))


def test_without_the_right_to_write_the_folder_the_store_is_immutable(folder, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_is_writable", lambda folder: False)
    store = open_for_reading(str(folder / "s.db"))
    with store.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "delete", "WAL would need its files"
        assert connection.execute(text("SELECT value FROM settings")).scalar() == "here"
        assert [file.name for file in folder.iterdir()] == ["s.db"]
    store.close()


@pytest.fixture
def public():
    """A folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_somebody_elses_store_is_read_by_who_may_not_write_the_folder(public, as_nobody):
    path = public / "s.db"
    store = open_store(str(path))
    marked(store, "here")
    store.close()
    path.chmod(0o644)

    def read():
        store = open_for_reading(str(path))
        value = marked(store)
        store.close()
        return value

    assert read() == "here"
    assert as_nobody(read) == "'here'"


def test_a_store_is_private_to_its_user(public, as_nobody):
    path = public / "project" / ".assay" / "assay.db"
    mask = os.umask(0o022)
    try:
        store = open_store(str(path))
    finally:
        os.umask(mask)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    marked(store, "here")
    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.glob("assay.db*")}
    assert modes == {"assay.db": 0o600, "assay.db-wal": 0o600, "assay.db-shm": 0o600}
    store.close()
    assert path.parent.parent.stat().st_mode & 0o777 != 0o700, "only the folder of the store is private"
    assert "Permission denied" in as_nobody(lambda: open_for_reading(str(path)))


def test_a_folder_that_was_there_keeps_its_mode(public):
    (public / ".assay").mkdir(mode=0o755)
    open_store(str(public / ".assay" / "assay.db")).close()
    assert (public / ".assay").stat().st_mode & 0o777 == 0o755


def test_the_lock_lets_one_in_at_a_time_and_leaves_nothing_behind(tmp_path):
    inside, most = 0, 0

    def enter():
        nonlocal inside, most
        for _ in range(50):
            with exclusive(tmp_path / "s.db"):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert list(tmp_path.iterdir()) == []


def test_a_backup_is_a_whole_private_store(folder):
    leave_changes_in_the_wal(folder / "s.db")
    copy = back_up(folder / "s.db", "0001")
    assert copy.name.startswith("s.db.backup-0001-2")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not list(folder.glob("*.partial*"))
    with closing(sqlite3.connect(f"{copy.as_uri()}?immutable=1", uri=True)) as connection:
        assert connection.execute("SELECT value FROM settings").fetchone() == ("pending",)


def test_a_backup_never_replaces_another(folder):
    copies = {back_up(folder / "s.db", "0001") for _ in range(3)}
    assert len(copies) == 3


def test_a_copy_that_was_cut_off_is_removed_by_the_next(folder):
    (folder / "s.db.backup-0001-20260101T000000Z.partial").write_bytes(b"half")
    copy = back_up(folder / "s.db", "0001")
    assert list(folder.glob("*backup*")) == [copy]


def test_a_damaged_store_is_told_and_not_counted_as_backed_up(folder):
    path = folder / "s.db"
    content = bytearray(path.read_bytes())
    content[2 * 4096 + 8 : 2 * 4096 + 100] = b"\xff" * 92
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged \(.*left as it is"):
        back_up(path, "0001")
    assert not list(folder.glob("*backup*"))


def test_a_backup_that_has_no_room_is_told(folder, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sqlite_file, "flush", full)
    with pytest.raises(StoreError, match="could not be copied before its migration, and was left as it is: .*No space"):
        back_up(folder / "s.db", "0001")
    assert not list(folder.glob("*backup*"))
