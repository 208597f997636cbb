"""Copy a whole store while others write, and reclaim the space of deleted rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import select, text

from assay.errors import SpecError, StoreError
from assay.store import schema
from assay.store.postgres import is_postgres
from assay.store.sqlite_file import connect_uri, create_private, flush
from assay.store.store import Store, explained, insert_many, open_for_reading, open_store, store_path

PAGE = 5_000


def back_up_store(location: str, target: Path, *, force: bool = False) -> int:
    """Copy a store into a SQLite file and return its size; the copy has what was committed when it began.

    A store in PostgreSQL becomes a SQLite file too, which every command reads and `assay store copy` puts back.
    """
    target = target.absolute()
    if target.exists() and not force:
        raise SpecError(f"{target} exists: give another file, or --force to replace it")
    if not target.parent.is_dir():
        raise SpecError(f"there is no folder {target.parent}")
    # under another name until it is complete and checked: what has the name of a backup can be relied on
    partial = target.with_name(f"{target.name}.partial")
    _remove(partial)
    try:
        with explained(str(partial)):
            if is_postgres(location):
                _copy_postgres(location, partial)
            else:
                _copy_sqlite(location, partial)
            with closing(connect_uri(partial, "mode=ro&immutable=1")) as copy:
                (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise StoreError(f"the store {location} is damaged ({' '.join(verdict.split())})")
            flush(partial)
            partial.replace(target)
            flush(target.parent)
    finally:
        _remove(partial)
    return target.stat().st_size


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


def _copy_sqlite(location: str, target: Path) -> None:
    # opened as every command opens it: a foreign file or an older store is refused, and nothing is written to it
    open_for_reading(location).close()
    create_private(target)
    with closing(connect_uri(store_path(location), "mode=ro")) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        # a copy is read on its own: it must not need files beside it
        copy.execute("PRAGMA journal_mode = DELETE")


def _copy_postgres(location: str, target: Path) -> None:
    source, copy = open_for_reading(location), open_store(str(target))
    try:
        with source.connect() as reading, copy.begin() as writing:
            # one snapshot for all tables: a run that is being written is in it up to one of its commits
            reading = reading.execution_options(isolation_level="REPEATABLE READ")
            for table in schema.metadata.sorted_tables:
                if table is schema.version:
                    continue
                rows = reading.execution_options(yield_per=PAGE).execute(select(table))
                for page in rows.partitions(PAGE):
                    insert_many(writing, table.name, len(table.c), [tuple(row) for row in page])
    finally:
        source.close()
        copy.close()
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def vacuum(store: Store) -> None:
    """Give the space of deleted rows back: to the disk from a SQLite file, to later rows in PostgreSQL."""
    with explained(store.location), store.engine.connect() as connection:
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        if store.is_postgres:
            for table in schema.metadata.sorted_tables:
                connection.execute(text(f"VACUUM (ANALYZE) {table.name}"))
        else:
            connection.execute(text("VACUUM"))
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
