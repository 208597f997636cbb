"""Opening a store: made, reopened, brought up to date, or refused with a sentence."""

import sqlite3

import pytest
from sqlalchemy import create_engine, inspect, select, text

from assay.errors import SpecError, StoreError
from assay.store import schema
from assay.store.migrate import configuration
from assay.store.store import default_location, open_for_planning, open_for_reading, open_store, store_path


def test_a_new_store_is_made_with_its_folder_and_keeps_out_of_git(tmp_path):
    store = open_store(default_location(tmp_path))
    store.close()
    assert (tmp_path / ".assay" / "assay.db").exists()
    assert (tmp_path / ".assay" / ".gitignore").read_text() == "*\n"


def test_a_power_cut_counts_like_a_kill(tmp_path):
    store = open_store(str(tmp_path / "s.db"))
    with store.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    store.close()


def test_migrations_make_the_same_tables_as_the_schema(tmp_path):
    from alembic import command

    fresh = open_store(str(tmp_path / "fresh.db"))
    engine = create_engine(f"sqlite:///{tmp_path / 'migrated.db'}")
    config = configuration()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    def shape(engine):
        found = inspect(engine)
        return {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)],
                found.get_pk_constraint(table)["constrained_columns"],
                sorted((tuple(i["column_names"]), i["unique"]) for i in found.get_indexes(table)),
            )
            for table in found.get_table_names()
        }

    assert shape(engine) == shape(fresh.engine)
    with engine.connect() as connection:
        assert connection.execute(select(schema.version.c.version_num)).scalar() == schema.SCHEMA_VERSION
    engine.dispose()
    fresh.close()


def test_row_keys_are_sqlites_own_row_numbers(tmp_path):
    store = open_store(str(tmp_path / "s.db"))
    with store.connect() as connection:
        made = connection.execute(text("SELECT sql FROM sqlite_master WHERE name = 'samples'")).scalar()
    assert "id INTEGER NOT NULL" in made
    store.close()


def test_a_store_of_a_newer_assay_is_refused_untouched(tmp_path):
    path = tmp_path / "s.db"
    open_store(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreError, match=r"newer assay \(schema 9999.*upgrade assay"):
        open_store(str(path))


def test_a_file_that_is_no_database_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be used: file is not a database"):
        open_store(str(path))


def test_reading_where_there_is_no_store_says_what_to_do(tmp_path):
    with pytest.raises(SpecError, match="no store at .* yet: `assay run` makes one"):
        open_for_reading(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    "location", ["mysql://host/db", "nonsense://x", "http://localhost/x", "sqlite://", "sqlite:///x.db?mode=ro"]
)
def test_a_location_that_cannot_be_a_store_is_an_error(location):
    with pytest.raises(SpecError, match="not a store that this version can open"):
        open_store(location)


@pytest.mark.parametrize("location", ["postgresql://u:pw/x@host/x", "mysql://host/x?password=pw", "://u:pw@h"])
def test_a_password_in_a_location_is_not_repeated(location):
    with pytest.raises(SpecError) as raised:
        open_store(location)
    assert "pw" not in str(raised.value)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the folder"):
        open_store(str(tmp_path / "file" / "s.db"))


def test_a_database_error_in_a_transaction_becomes_a_sentence(tmp_path):
    store = open_store(str(tmp_path / "s.db"))
    with pytest.raises(StoreError, match="cannot be used: no such table"), store.begin() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
    store.close()


@pytest.mark.parametrize("name", ["what?.db", "a#b.db", "100%25.db", "two words.db", "ß.db"])
def test_a_store_may_have_any_name(tmp_path, name):
    open_store(str(tmp_path / name)).close()
    assert [file.name for file in tmp_path.iterdir()] == [name]
    store = open_for_reading(str(tmp_path / name))
    with store.connect() as connection:
        assert connection.execute(select(schema.version.c.version_num)).scalar() == schema.SCHEMA_VERSION
    store.close()


def test_a_sqlite_url_names_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert store_path(f"sqlite:///{tmp_path}/s.db") == tmp_path / "s.db" == store_path("sqlite:///s.db")
    open_store("sqlite:///s.db").close()
    open_for_reading(f"sqlite:///{tmp_path}/s.db").close()


def test_a_missing_store_is_an_error_for_who_must_not_create_it(tmp_path):
    with pytest.raises(SpecError, match="no store at .* yet"):
        open_store(str(tmp_path / "none.db"), create=False)
    assert list(tmp_path.iterdir()) == []


def test_planning_reads_a_store_and_imagines_a_missing_one(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from assay.store.runs import all_runs

    imagined = open_for_planning(str(tmp_path / "folder" / "s.db"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(all_runs, imagined, 1).result() == all_runs(imagined, 1) == []
    imagined.close()
    assert list(tmp_path.iterdir()) == []
    open_store(str(tmp_path / "s.db")).close()
    read = open_for_planning(str(tmp_path / "s.db"))
    assert read.is_read_only
    read.close()
