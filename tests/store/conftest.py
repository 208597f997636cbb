"""Stores as earlier versions left them, and folders as they look to somebody who may only read."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from assay.store.migrate import configuration

NOBODY = 65534


@pytest.fixture
def older_store(tmp_path):
    """Make a store with the tables of an earlier schema and one run in it; gives its path."""

    def make(version="0001", name="old.db"):
        from alembic import command

        path = tmp_path / name
        engine = create_engine(f"sqlite:///{path}")
        config = configuration()
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, version)
        engine.dispose()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(
                "INSERT INTO runs (id, identity, status, task, file, seed, spec, started_at, cursor) "
                "VALUES ('abc', 'i', 'completed', 't', 't.yaml', 0, '{}', '2026-01-02T03:04:05+00:00', 0)"
            )
            connection.execute("INSERT INTO samples (id, sample_id, trial, input) VALUES (1, 's', 0, '{}')")
            connection.commit()
        return path

    return make


@pytest.fixture
def foreign_database(tmp_path):
    """Make a WAL database of another application; gives its path."""

    def make(*statements, name="other.db"):
        path = tmp_path / name
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            for statement in statements or ("CREATE TABLE invoices (x)", "INSERT INTO invoices VALUES (1)"):
                connection.execute(statement)
            connection.commit()
        return path

    return make


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """The files of a folder: their bytes and the time of their last change."""
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.fixture
def snapshot():
    return contents


@pytest.fixture
def as_nobody():
    """Run a function as an ordinary user, in a forked process; gives what it returned or the message it raised.

    Forked, because the interpreter and its packages may lie where only their owner may look: the function imports
    nothing that was not imported before.
    """
    if os.getuid() != 0:
        pytest.skip("only root may become another user")

    def run(function):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                answer = repr(function())
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(writer, answer.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        return answer

    return run
