"""The store: one SQLite file or PostgreSQL schema with every run; opened to read or write, created, migrated."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from assay.errors import RejectedValue, SpecError, StoreError, StoreUnreachable
from assay.store import postgres, schema
from assay.store.postgres import is_postgres
from assay.store.sqlite_file import (
    APPLICATION_ID,
    BUSY_TIMEOUT_MS,
    back_up,
    create_private,
    exclusive,
    reading_query,
    refuse_read_only,
    remove_unused,
    stored_version,
    tidy,
)

if TYPE_CHECKING:
    from assay.store.migrate import Migration


OPENED: dict[Path, None] = {}
"""The stores that this process has opened, to be examined when a command fails for no other reason."""
LONGEST_NAME, LONGEST_PATH = 255, 4_000
"""The limit in bytes on Linux and macOS, slightly reduced for the suffixes that SQLite adds."""
_NEW: set[Path] = set()
"""The stores that this process created together with their folders."""
RECONNECT_AFTER_S = (0.1, 0.5, 1, 2, 5, 10, 20, 20)
"""Pauses before a group that met a lost connection is committed again: a database that restarts takes seconds."""
_T = TypeVar("_T")


class Store:
    """An open store. Reads and small writes go through SQLAlchemy, bulk rows straight to the driver.

    `location` never holds a password. `reads` is the file of a SQLite store that is open for reading only.
    """

    def __init__(
        self, engine: Engine, location: str, *, reads: Path | None = None, read_only: bool | None = None
    ) -> None:
        self.engine = engine
        self.location = location
        self.attached: list[Path] = []
        self.is_read_only = reads is not None if read_only is None else read_only
        """Whether every write is refused."""
        self._reads = reads
        self._folders: list[TemporaryDirectory[str]] = []

    @property
    def is_postgres(self) -> bool:
        """Return whether the store is a PostgreSQL database rather than a SQLite file."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Run a transaction, committed as a whole or not at all."""
        with explained(self.location), self.engine.begin() as connection:
            yield connection

    def commit(self, work: Callable[[Connection], _T], *, is_done: Callable[[Connection], bool]) -> _T | None:
        """Do work in one transaction, again if the connection to the database is lost meanwhile.

        A connection may be lost after the server has committed and before it says so: `is_done` looks whether the work
        is there already. The work is then not done again, and the result is None.
        """
        pauses = iter(RECONNECT_AFTER_S)
        is_retry = False
        while True:
            try:
                with self.begin() as connection:
                    return None if is_retry and is_done(connection) else work(connection)
            except StoreUnreachable as error:
                pause = next(pauses, None)
                if pause is None or not error.temporary:
                    raise
                time.sleep(pause)
                is_retry = True

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection for reading."""
        with explained(self.location), self.engine.connect() as connection:
            yield connection

    def attach(self, path: Path) -> None:
        """Show the rows of another store beside those of this one, which is open for reading."""
        assert self.is_read_only
        if not self.attached:
            event.listen(self.engine, "connect", self._show_attached)
        self.attached.append(path)
        # connections that are open do not know the new rows
        self.engine.dispose()

    def own(self, folder: TemporaryDirectory[str]) -> None:
        """Remove a temporary folder when this store is closed."""
        self._folders.append(folder)

    def _show_attached(self, connection: Any, _record: object) -> None:
        """Put a temporary view over each table, because SQLite looks there first."""
        if self.is_postgres:
            postgres.show_attached(connection, self.attached)
            return
        cursor = connection.cursor()
        cursor.execute("PRAGMA query_only = OFF")
        for number, path in enumerate(self.attached):
            cursor.execute(f"ATTACH DATABASE ? AS attached_{number}", (f"{path.as_uri()}?mode=ro&immutable=1",))
        for table in schema.metadata.sorted_tables:
            # a migrated table may have its columns in another order
            columns = ", ".join(f'"{column.name}"' for column in table.c)
            sources = ("main", *(f"attached_{number}" for number in range(len(self.attached))))
            union = " UNION ALL ".join(f"SELECT {columns} FROM {source}.{table.name}" for source in sources)  # noqa: S608
            cursor.execute(f"CREATE TEMP VIEW {table.name} AS {union}")
        cursor.execute("PRAGMA query_only = ON")
        cursor.close()

    def close(self) -> None:
        self.engine.dispose()
        if self._reads is not None:
            tidy(self._reads)
        for folder in self._folders:
            folder.cleanup()


def insert_many(
    connection: Connection, table: str, width: int, rows: Iterable[Sequence[Any]], *, replace: bool = False
) -> None:
    """Write rows in bulk through the driver: no object a row in between."""
    cursor = connection.connection.cursor()
    try:
        if connection.dialect.name == "postgresql":
            write = postgres.replace_rows if replace else postgres.copy_rows
            write(cursor, table, rows)
        else:
            verb = "REPLACE" if replace else "INSERT"
            marks = ", ".join(["?"] * width)
            cursor.executemany(f"{verb} INTO {table} VALUES ({marks})", rows)  # type: ignore[arg-type]
    finally:
        cursor.close()


def default_location(root: Path) -> str:
    """Return the default location of a project's store."""
    return str(root / ".assay" / "assay.db")


def open_store(location: str, *, create: bool = True) -> Store:
    """Open a store for writing: create it if it does not exist, migrate an older one after a backup.

    With `create=False` a missing store is an error. A store in PostgreSQL is never migrated unasked: other people use
    it at the same time, and there is no file to copy first.
    """
    if is_postgres(location):
        return _open_postgres(location, create=create, read_only=False)
    path = store_path(location)
    with explained(location):
        version = stored_version(path) if create else existing_version(path)
        refuse_read_only(path)
        if not path.parent.exists():
            _NEW.add(path)
        if version != schema.SCHEMA_VERSION:
            migration = bring_up_to_date(location)
            if migration is not None:
                print(migration_words(path, migration), file=sys.stderr)
        engine = create_engine(URL.create("sqlite", database=str(path)))
        event.listen(engine, "connect", _configure_sqlite)
    OPENED[path] = None
    return Store(engine, location)


def _open_postgres(location: str, *, create: bool, read_only: bool) -> Store:
    address = postgres.address_of(location)
    with explained(address.shown):
        engine = postgres.open_engine(address, read_only=read_only)
        try:
            with engine.connect() as connection:
                version = postgres.stored_version(connection, address)
            if version is None and not create:
                raise no_store(address.shown)
            if version is None:
                _change_postgres(engine, address)
            elif version < schema.SCHEMA_VERSION:
                raise _older(address.shown, version)
            _refuse_newer(address.shown, version)
        except BaseException:
            engine.dispose()
            raise
    return Store(engine, address.shown, read_only=read_only)


def _change_postgres(engine: Engine, address: postgres.Address) -> Migration | None:
    """Create or migrate the tables of a project; of several processes one does it, the others find it done."""
    with engine.begin() as connection:
        postgres.lock_schema(connection, address)
        version = postgres.stored_version(connection, address)
        if version is None:
            postgres.create_tables(connection, address)
        elif version != schema.SCHEMA_VERSION:
            _refuse_newer(address.shown, version)
            from assay.store.migrate import migrate

            return migrate(connection, location=address.shown, version=version)
    return None


def remove_new_stores() -> None:
    """Remove the stores that this process created and that hold no result, so that a failed command leaves nothing."""
    while _NEW:
        remove_unused(_NEW.pop())


def open_for_reading(location: str) -> Store:
    """Open a store that exists and is up to date; nothing is created, migrated or written, now or later."""
    if is_postgres(location):
        return _open_postgres(location, create=False, read_only=True)
    path = store_path(location)
    with explained(location):
        version = existing_version(path)
        if version < schema.SCHEMA_VERSION:
            raise _older(location, version)
        _refuse_newer(location, version)
        query = {**reading_query(path), "uri": "true"}
        engine = create_engine(URL.create("sqlite", database=path.as_uri(), query=query))
        event.listen(engine, "connect", _configure_reading)
    OPENED[path] = None
    return Store(engine, location, reads=path)


def open_for_planning(location: str) -> Store:
    """Open a store for reading; if it does not exist, use an empty one in memory."""
    with explained(location):
        if store_exists(location):
            return open_for_reading(location)
        # one connection for all: every other would see a database of its own
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        schema.metadata.create_all(engine)
    return Store(engine, shown(location))


def store_exists(location: str) -> bool:
    """Return whether a store of any schema exists at a location."""
    return stored_schema(location) is not None


def stored_schema(location: str) -> str | None:
    """Return the schema version of the store at a location; None if there is none."""
    if not is_postgres(location):
        return stored_version(store_path(location))
    address = postgres.address_of(location)
    engine = postgres.open_engine(address, read_only=True)
    try:
        with explained(address.shown), engine.connect() as connection:
            return postgres.stored_version(connection, address)
    finally:
        engine.dispose()


def shown(location: str) -> str:
    """A location as messages name it: without a password."""
    return postgres.address_of(location).shown if is_postgres(location) else location


def bring_up_to_date(location: str) -> Migration | None:
    """Create or migrate a store; of several processes one does it, the others wait and find it done.

    Returns what a migration did, None when there was nothing to migrate.
    """
    if is_postgres(location):
        address = postgres.address_of(location)
        engine = postgres.open_engine(address, read_only=False)
        try:
            with explained(address.shown):
                return _change_postgres(engine, address)
        finally:
            engine.dispose()
    path = store_path(location)
    with explained(location):
        version = stored_version(path)
        if version == schema.SCHEMA_VERSION:
            return None
        _refuse_newer(location, version)
        refuse_read_only(path)
        _prepare_folder(path)
        with exclusive(path):
            create_private(path)
            if stored_version(path) == schema.SCHEMA_VERSION:
                return None
            with _schema_transaction(path) as connection:
                return _change_schema(connection, path, location)


def _change_schema(connection: Connection, path: Path, location: str) -> Migration | None:
    # asked again inside the transaction: an assay that knows no lock may have been faster
    version = stored_version(path)
    migration = None
    if version is None:
        schema.metadata.create_all(connection)
        connection.execute(schema.version.insert().values(version_num=schema.SCHEMA_VERSION))
    elif version != schema.SCHEMA_VERSION:
        _refuse_newer(location, version)
        from assay.store.migrate import migrate

        migration = migrate(connection, location=str(path), version=version, backup=back_up(path, version))
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return migration


def migration_words(location: str | Path, migration: Migration) -> str:
    """Say in one line what a migration did."""
    backup = "" if migration.backup is None else f"; the backup is {migration.backup}"
    return f"migrated the store {location} from schema {migration.before} to {migration.after}{backup}"


def store_path(location: str) -> Path:
    """Return the file of a store from a path or a `sqlite:///` URL."""
    if "://" not in location:
        return _usable(Path(location))
    try:
        url = make_url(location)
        database = url.database if url.get_backend_name() == "sqlite" and not url.query else None
    except ArgumentError:
        database = None
    if not database or database == ":memory:":
        # what follows the scheme may hold a password
        kind = location.partition("://")[0]
        raise SpecError(
            f"{kind}://... is not a store that this version can open: give the path of a file, or postgresql://..."
        )
    return _usable(Path(database))


def _usable(path: Path) -> Path:
    """The absolute path, unless it is longer than file systems allow."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() fails on a path that is too long
    # SQLite and our lock put up to five characters behind the name
    if any(len(os.fsencode(part)) > LONGEST_NAME - 5 for part in path.parts) or len(os.fsencode(path)) > LONGEST_PATH:
        raise SpecError(f"the path of the store is too long: {str(path)[:60]}...; give a shorter --store")
    return path.resolve()


def existing_version(path: Path) -> str:
    """Read the schema version of a store; a missing store is an error that explains how to create one."""
    version = stored_version(path)
    if version is None:
        raise no_store(path)
    return version


def no_store(location: str | Path) -> SpecError:
    """Build the error of a reading command without a store."""
    return SpecError(f"there is no store at {location} yet: `assay run` makes one")


def _older(location: str, version: str) -> StoreError:
    backs_up = "updates it" if is_postgres(location) else "backs it up and brings it up to date"
    return StoreError(
        f"the store {location} has the older schema {version}, and this assay reads {schema.SCHEMA_VERSION}: "
        f"`assay store migrate --store {location}` {backs_up}"
    )


def _refuse_newer(location: str, version: str | None) -> None:
    # versions are numbers of four digits: their order is that of the alphabet
    if version is not None and version > schema.SCHEMA_VERSION:
        raise StoreError(
            f"the store {location} was written by a newer assay (schema {version}; this one knows up to "
            f"{schema.SCHEMA_VERSION}): upgrade assay, or give another --store"
        )


def _prepare_folder(path: Path) -> None:
    try:
        # runs hold prompts, answers and whatever the data holds: the folder is for the user alone
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.parent.name == ".assay":
            ignore = path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot make the folder of the store {path}: {error.strerror}; "
            "give a --store that you can write to, or set ASSAY_STORE"
        ) from error


def _configure_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    # FULL: a committed row survives a power cut, not only a killed process
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _configure_reading(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


@contextmanager
def _schema_transaction(path: Path) -> Iterator[Connection]:
    """Begin a transaction that may include CREATE, ALTER and DROP, committed as a whole or not at all."""
    engine = create_engine(URL.create("sqlite", database=str(path)))
    event.listen(engine, "connect", _configure_sqlite)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # Python's driver begins a transaction only before an INSERT, UPDATE or DELETE: a CREATE or ALTER ahead of that
        # would be committed at once. IMMEDIATE: nobody else writes between our look at the version and our changes.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


_ABOUT_VALUES = {"DataError", "IntegrityError", "InterfaceError"}
"""The errors of SQLite's driver about a value; trouble with the database is OperationalError."""


@contextmanager
def explained(location: str) -> Iterator[None]:
    """Turn a database error into a sentence; the only place that does."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise _explanation(cause, location) from error
    except OSError as error:
        raise StoreError(f"the store {location} cannot be used: {error.strerror or error}") from error
    except (OverflowError, UnicodeError) as error:
        # what the driver says of integers beyond 64 bits and of halves of characters
        raise RejectedValue(f"the store {location} rejects a value: {error}") from error
    except sqlite3.Error as error:
        raise _explanation(error, location) from error
    except Exception as error:
        # psycopg is imported only for a store in PostgreSQL: its errors have no class here
        explanation = postgres.translated(error, location)
        if explanation is None:
            raise
        raise explanation from error


def _explanation(cause: BaseException, location: str) -> StoreError:
    explanation = postgres.translated(cause, location)
    if explanation is not None:
        return explanation
    if type(cause).__name__ in _ABOUT_VALUES:
        return RejectedValue(f"the store {location} rejects a value: {cause}")
    return StoreError(f"the store {location} cannot be used: {cause}")
