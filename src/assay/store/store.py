"""The store: one database file that holds every run; opened for reading or for writing, created, migrated."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from assay.errors import RejectedValue, SpecError, StoreError
from assay.store import schema
from assay.store.sqlite_file import (
    APPLICATION_ID,
    BUSY_TIMEOUT_MS,
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
"""In bytes, as Linux and macOS have them; a little less for the whole path, which the same suffixes make longer."""
_NEW: set[Path] = set()
"""The stores that this process created together with their folders."""


class Store:
    """An open store. Reads and small writes go through SQLAlchemy, bulk rows straight to the driver.

    `reads` is the file of a store that is open for reading only.
    """

    def __init__(self, engine: Engine, location: str, *, reads: Path | None = None) -> None:
        self.engine = engine
        self.location = location
        self.attached: list[Path] = []
        self._reads = reads
        self._folders: list[TemporaryDirectory[str]] = []

    @property
    def is_read_only(self) -> bool:
        """Whether every write is refused."""
        return self._reads is not None

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction: all of it is kept, or none."""
        with explained(self.location), self.engine.begin() as connection:
            yield connection

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
        """Put a temporary view over each table: SQLite looks a name up there first."""
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
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    places = ", ".join([mark] * width)
    cursor = connection.connection.cursor()
    try:
        verb = "REPLACE" if replace else "INSERT"
        cursor.executemany(f"{verb} INTO {table} VALUES ({places})", rows)  # type: ignore[arg-type]
    finally:
        cursor.close()


def default_location(root: Path) -> str:
    """Where a project keeps its store unless told otherwise."""
    return str(root / ".assay" / "assay.db")


def open_store(location: str, *, create: bool = True) -> Store:
    """Open a store for writing: create it where there is none, migrate an older one after a backup.

    With `create=False` a missing store is an error.
    """
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


def remove_new_stores() -> None:
    """Remove the stores that this process created and that hold no result: a failed command leaves nothing behind."""
    while _NEW:
        remove_unused(_NEW.pop())


def open_for_reading(location: str) -> Store:
    """Open a store that exists and is up to date; nothing is created, migrated or written, now or later."""
    path = store_path(location)
    with explained(location):
        version = existing_version(path)
        if version < schema.SCHEMA_VERSION:
            raise StoreError(
                f"the store {location} has the older schema {version}, and this assay reads {schema.SCHEMA_VERSION}: "
                f"`assay store migrate --store {location}` backs it up and brings it up to date"
            )
        _refuse_newer(location, version)
        query = {**reading_query(path), "uri": "true"}
        engine = create_engine(URL.create("sqlite", database=path.as_uri(), query=query))
        event.listen(engine, "connect", _configure_reading)
    OPENED[path] = None
    return Store(engine, location, reads=path)


def open_for_planning(location: str) -> Store:
    """Open a store for reading; where there is none yet, an empty one in memory takes its place."""
    with explained(location):
        if stored_version(store_path(location)) is not None:
            return open_for_reading(location)
        # one connection for all: every other would see a database of its own
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        schema.metadata.create_all(engine)
    return Store(engine, location)


def bring_up_to_date(location: str) -> Migration | None:
    """Create or migrate a store; of several processes one does it, the others wait and find it done.

    Returns what a migration did, None when there was nothing to migrate.
    """
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

        migration = migrate(connection, path=path, version=version)
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return migration


def migration_words(path: Path, migration: Migration) -> str:
    """Say in one line what a migration did."""
    return (
        f"migrated the store {path} from schema {migration.before} to {migration.after}; "
        f"the backup is {migration.backup}"
    )


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
        raise SpecError(f"{kind}://... is not a store that this version can open: give the path of a file")
    return _usable(Path(database))


def _usable(path: Path) -> Path:
    """The absolute path, unless it is longer than file systems allow."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() fails on a path that is too long
    # SQLite and our lock put up to five characters behind the name
    if any(len(os.fsencode(part)) > LONGEST_NAME - 5 for part in path.parts) or len(os.fsencode(path)) > LONGEST_PATH:
        raise SpecError(f"the path of the store is too long: {str(path)[:60]}...; give a shorter --store")
    return path.resolve()


def existing_version(path: Path) -> str:
    """Read the schema version of a store; a missing one is an error that says how to make it."""
    version = stored_version(path)
    if version is None:
        raise SpecError(f"there is no store at {path} yet: `assay run` makes one")
    return version


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
        raise StoreError(f"cannot make the folder of the store {path}: {error.strerror}") from error


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
    """Begin a transaction that also holds CREATE, ALTER and DROP: all of it is kept, or none, whatever happens."""
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
"""What drivers of the Python database API raise because of a value; trouble with the database is OperationalError."""


@contextmanager
def explained(location: str) -> Iterator[None]:
    """Turn a database error into a sentence; the one place that does."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        if type(cause).__name__ in _ABOUT_VALUES:
            raise RejectedValue(f"the store {location} rejects a value: {cause}") from error
        raise StoreError(f"the store {location} cannot be used: {cause}") from error
    except OSError as error:
        raise StoreError(f"the store {location} cannot be used: {error.strerror or error}") from error
    except (OverflowError, UnicodeError) as error:
        # what the driver says of integers beyond 64 bits and of halves of characters
        raise RejectedValue(f"the store {location} rejects a value: {error}") from error
    except sqlite3.Error as error:
        if type(error).__name__ in _ABOUT_VALUES:
            raise RejectedValue(f"the store {location} rejects a value: {error}") from error
        raise StoreError(f"the store {location} cannot be used: {error}") from error
