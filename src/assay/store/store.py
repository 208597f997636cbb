"""The store: one database file (or server) that holds every run, opened, created or brought up to date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from assay.errors import SpecError, StoreError
from assay.store import schema

BUSY_TIMEOUT_MS = 30_000


class Store:
    """An open store. Reads and small writes go through SQLAlchemy, bulk rows straight to the driver."""

    def __init__(self, engine: Engine, location: str) -> None:
        self.engine = engine
        self.location = location

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction: all of it is kept, or none."""
        with _explained(self.location), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection for reading."""
        with _explained(self.location), self.engine.connect() as connection:
            yield connection

    def close(self) -> None:
        self.engine.dispose()


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
    """Open the store at a path or database URL; make it, or bring its tables up to date, where needed."""
    url = _url(location)
    if url.startswith("sqlite:///"):
        path = Path(url.removeprefix("sqlite:///"))
        if not create and not path.exists():
            raise SpecError(f"there is no store at {path} yet: `assay run` makes one")
        _prepare_folder(path)
    with _explained(location):
        engine = create_engine(url)
        if engine.dialect.name == "sqlite":
            event.listen(engine, "connect", _configure_sqlite)
        try:
            _bring_up_to_date(engine, location)
        except BaseException:
            engine.dispose()
            raise
    return Store(engine, location)


def _url(location: str) -> str:
    if "://" not in location:
        return f"sqlite:///{Path(location).resolve()}"
    try:
        dialect = make_url(location).get_backend_name()
    except ArgumentError:
        dialect = ""
    if dialect != "sqlite":
        # what follows the scheme may hold a password
        kind = location.partition("://")[0]
        raise SpecError(f"{kind}://... is not a store that this version can open: give the path of a file")
    return location


def _prepare_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
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


def _bring_up_to_date(engine: Engine, location: str) -> None:
    found = _version(engine)
    if found == schema.SCHEMA_VERSION:
        return
    if found is None:
        with engine.begin() as connection:
            schema.metadata.create_all(connection)
            if connection.execute(select(schema.version)).first() is None:
                connection.execute(schema.version.insert().values(version_num=schema.SCHEMA_VERSION))
        return
    from assay.store.migrate import migrate

    migrate(engine, found=found, location=location)


def _version(engine: Engine) -> str | None:
    """The schema version of a database; None when it is empty."""
    if not inspect(engine).has_table(schema.version.name):
        return None
    with engine.connect() as connection:
        return connection.execute(select(schema.version.c.version_num)).scalar()


@contextmanager
def _explained(location: str) -> Iterator[None]:
    """The one place where a database error becomes a sentence."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the store {location} cannot be used: {cause}") from error
    except OSError as error:
        raise StoreError(f"the store {location} cannot be used: {error.strerror or error}") from error
    except Exception as error:
        import sqlite3

        if isinstance(error, sqlite3.Error):
            raise StoreError(f"the store {location} cannot be used: {error}") from error
        raise
