"""A store in a PostgreSQL database: its URL, connections, bulk writes, and what its errors mean.

Each project has a schema of its own in the database, `?project=NAME` in the URL. Everything else in the URL belongs to
libpq, which also reads PGPASSWORD, `.pgpass` and service files: assay never sees those passwords.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from sqlalchemy import Connection, Engine, create_engine, event, text

from assay.errors import MissingExtra, RejectedValue, SpecError, StoreError, StoreUnreachable
from assay.store import schema
from assay.store.stored_text import storable_row

SCHEMES = ("postgresql", "postgres")
DEFAULT_PROJECT = "assay"
CONNECT_TIMEOUT_S = 10
_PROJECT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_FORM = "postgresql://USER@HOST:5432/DATABASE"


@dataclass(frozen=True, slots=True)
class Address:
    """The location of a store: the parameters for libpq, the schema, and the URL without its password."""

    conninfo: str = field(repr=False)
    project: str
    shown: str


def is_postgres(location: str) -> bool:
    """Return whether a location is the URL of a PostgreSQL database."""
    return location.partition("://")[0].lower() in SCHEMES and "://" in location


def address_of(location: str) -> Address:
    """Parse the URL of a store; no message repeats a password in it."""
    parts = urlsplit(location)
    try:
        # a password with a slash ends the host too early: what is left of it would be taken for a port
        _ = [int(host.rpartition(":")[2]) for host in _hosts(parts.netloc) if re.search(r":[^\]]*$", host)]
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise SpecError(
            f"the URL of the PostgreSQL store is not of the form {_FORM}?project=NAME "
            "(special characters in a password are percent-encoded)"
        ) from None
    names = [value for name, value in parameters if name == "project"]
    project = names[-1] if names else DEFAULT_PROJECT
    if not _PROJECT.fullmatch(project):
        raise SpecError(f'the project "{project[:70]}" of the PostgreSQL store: use letters, digits and _')
    for_libpq = [(name, value) for name, value in parameters if name != "project"]
    if "connect_timeout" not in dict(for_libpq):
        for_libpq.append(("connect_timeout", str(CONNECT_TIMEOUT_S)))
    secretless = [(name, value) for name, value in parameters if name not in ("password", "sslpassword")]
    user, at, hosts = parts.netloc.rpartition("@")
    shown_netloc = user.partition(":")[0] + at + hosts
    return Address(
        conninfo=f"postgresql://{parts.netloc}{parts.path}?{urlencode(for_libpq, quote_via=quote)}",
        project=project,
        shown=f"postgresql://{shown_netloc}{parts.path}{'?' if secretless else ''}{urlencode(secretless, safe='/')}",
    )


def _hosts(netloc: str) -> list[str]:
    return netloc.rpartition("@")[2].split(",")


def open_engine(address: Address, *, read_only: bool) -> Engine:
    """An engine whose connections see the schema of the project; with `read_only` every write is refused."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres", "a store in PostgreSQL") from None

    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(address.conninfo, fallback_application_name="assay"),
        # the server may have closed a connection since its last use: a team's database is restarted now and then
        pool_pre_ping=True,
    )
    settings = [
        f'SET search_path TO "{address.project}"',
        # what a writer has returned from survives a power cut, as with SQLite
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    ]
    if read_only:
        settings.append("SET default_transaction_read_only = on")

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        _outside_a_transaction(connection, settings)

    return engine


def _outside_a_transaction(connection: Any, statements: Iterable[str]) -> None:
    """Run statements whose effect a rollback must not undo."""
    connection.autocommit = True
    for statement in statements:
        connection.execute(statement)
    connection.autocommit = False


def stored_version(connection: Connection, address: Address) -> str | None:
    """Read the schema version of a store, None if there is none yet; tables of other programs are refused."""
    query = text(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = :project AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    )
    names = set(connection.execute(query, {"project": address.project}).scalars())
    if not names:
        return None
    if not {schema.version.name, schema.runs.name, schema.samples.name} <= names:
        tables = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
        raise StoreError(
            f"the schema {address.project} of {address.shown} belongs to another application (it holds {tables}): "
            "it was left as it is; give another project, such as ?project=assay"
        )
    version = connection.execute(text(f'SELECT version_num FROM "{address.project}".{schema.version.name}')).scalar()  # noqa: S608 - a checked name
    return None if version is None else str(version)


def lock_schema(connection: Connection, address: Address) -> None:
    """Wait until no other process creates or migrates this store; the lock ends with the transaction."""
    key = zlib.crc32(f"assay:{address.project}".encode())
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def create_tables(connection: Connection, address: Address) -> None:
    """Create the schema of the project, if it does not exist, and its tables."""
    there = text("SELECT 1 FROM pg_namespace WHERE nspname = :project")
    if connection.execute(there, {"project": address.project}).first() is None:
        connection.execute(text(f'CREATE SCHEMA "{address.project}"'))
    schema.metadata.create_all(connection)
    connection.execute(schema.version.insert().values(version_num=schema.SCHEMA_VERSION))


def size_bytes(connection: Connection, address: Address) -> int:
    """The size of the tables and indexes of a store."""
    query = text(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :project AND c.relkind = 'r'"
    )
    return int(connection.execute(query, {"project": address.project}).scalar_one())


def copy_rows(cursor: Any, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows with COPY, the fastest way into a table."""
    with cursor.copy(f"COPY {table} FROM STDIN") as copy:
        write = copy.write_row
        for row in rows:
            write(storable_row(row))


def replace_rows(cursor: Any, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows, replacing those with the same key."""
    columns = [column.name for column in schema.metadata.tables[table].c]
    keys = [column.name for column in schema.metadata.tables[table].primary_key]
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in columns if name not in keys)
    marks = ", ".join(["%s"] * len(columns))
    statement = (
        f"INSERT INTO {table} VALUES ({marks}) "  # noqa: S608 - names of ours
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    )
    cursor.executemany(statement, [storable_row(row) for row in rows])


def show_attached(connection: Any, files: Sequence[Path]) -> None:
    """Show the rows of SQLite stores beside those of this one: as temporary tables under views of the tables' names."""
    statements = ["SET default_transaction_read_only = off"]
    _outside_a_transaction(connection, statements)
    cursor = connection.cursor()
    for table in schema.metadata.sorted_tables:
        columns = ", ".join(f'"{column.name}"' for column in table.c)
        cursor.execute(f"CREATE TEMP TABLE attached_{table.name} AS SELECT * FROM {table.name} LIMIT 0")  # noqa: S608
        for file in files:
            with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as source:
                rows = source.execute(f"SELECT {columns} FROM {table.name}")  # noqa: S608
                copy_rows(cursor, f"attached_{table.name} ({columns})", rows)
        cursor.execute(
            f"CREATE TEMP VIEW {table.name} AS SELECT {columns} FROM {table.name} "  # noqa: S608
            f"UNION ALL SELECT {columns} FROM attached_{table.name}"
        )
    cursor.close()
    connection.commit()
    _outside_a_transaction(connection, ["SET default_transaction_read_only = on"])


_ADVICE = (
    (r"password authentication failed|no password supplied", "give the password in PGPASSWORD, ~/.pgpass or a service"),
    (r"role .* does not exist", "create the role, or give another user in the URL"),
    (r"database .* does not exist", "create the database, or give another one in the URL"),
    (r"permission denied|must be owner", "ask the owner of the database for the right, or use another role"),
    (r"read-only transaction", "this role or server may only read: use commands that only read"),
    (r"No space left on device|could not extend|disk.* full", "make room on the server; what was committed is kept"),
)
"""The advice for an error, by the server's message."""
_LOST = ("08", "57P")
"""SQLSTATEs of a connection that is gone, and of a server that shuts down or starts."""


def translated(error: BaseException, location: str) -> StoreError | None:
    """Translate a driver's error into ours; None for any other error."""
    if type(error).__module__.partition(".")[0] != "psycopg":
        return None
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    reason = _reason(error)
    if isinstance(error, psycopg.errors.DataError | psycopg.errors.IntegrityError):
        return RejectedValue(f"the store {location} rejects a value: {reason}")
    advice = next((words for pattern, words in _ADVICE if re.search(pattern, reason)), None)
    message = f"{reason}{f': {advice}' if advice else ''}"
    if isinstance(error, psycopg.OperationalError):
        # an error without a state comes from libpq: there is no connection, or there is none any more
        is_lost = error.sqlstate is None or error.sqlstate.startswith(_LOST)
        if is_lost:
            words = "cannot be reached" if advice is None else "cannot be used"
            return StoreUnreachable(f"the store {location} {words}: {message}", temporary=advice is None)
    return StoreError(f"the store {location} cannot be used: {message}")


def _reason(error: BaseException) -> str:
    """Return the first line of the message of libpq or the server, without its frame."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    line = re.sub(r"^.* failed: (?=\S)", "", line)
    return re.sub(r"^(FATAL|ERROR|PANIC):\s+", "", line).strip().rstrip(".")
