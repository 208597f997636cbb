"""A store as a file: telling it from other files, reading it without a trace, locking it, copying it.

Nothing here opens the file of a store except through SQLite: closing any other handle on it would drop the locks that
SQLite holds for this process.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from assay.errors import StoreError
from assay.store import schema

APPLICATION_ID = 0x61737379
"""Marks a SQLite file as a store ("assy"). Files written before this mark existed have 0."""

BUSY_TIMEOUT_MS = 30_000
SMALLEST_PAGE = 512
"""No SQLite database with anything in it has fewer bytes."""


def stored_version(path: Path) -> str | None:
    """Read the schema version of a store, None if the file is absent or empty; any other file is refused.

    Nothing is written, also not for a moment: a foreign database is left without `-wal` and `-shm` files.
    """
    if path.is_dir():
        raise StoreError(f"the store {path} cannot be used: it is a folder")
    size = path.stat().st_size if path.exists() else 0
    if size == 0:
        return None
    if size < SMALLEST_PAGE:
        # SQLite takes a file of one byte for an empty one, and would write over it
        raise StoreError(f"the store {path} cannot be used: file is not a database")
    if _has_pending_changes(path):
        return _read_version(path, "mode=ro")
    try:
        # a database that nobody writes is complete without its -wal file: reading it so creates no files
        return _read_version(path, "mode=ro&immutable=1")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB or not _is_writable(path.parent):
            raise
        # somebody began to write in this very moment: look again, under SQLite's own locks
        return _read_version(path, "mode=ro")


def _read_version(path: Path, query: str) -> str | None:
    try:
        with closing(connect_uri(path, query)) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            version = None
            if schema.version.name in names:
                version = connection.execute(f"SELECT version_num FROM {schema.version.name}").fetchone()  # noqa: S608
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_CANTOPEN and _has_pending_changes(path):
            raise StoreError(
                f"the store {path} cannot be read in a read-only folder: its newest changes are still in "
                f"{path.name}-wal; copy both files to a folder that you can write to, and give that copy as --store"
            ) from error
        raise
    names = {name for name in names if not name.startswith("sqlite_")}
    # an assay that was killed while it created its first tables left them without a version
    is_unfinished = version is None and (not names or schema.version.name in names <= schema.metadata.tables.keys())
    is_ours = version is not None and {schema.runs.name, schema.samples.name} <= names
    if application not in (0, APPLICATION_ID) or not (is_ours or is_unfinished):
        tables = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
        raise StoreError(
            f"{path} is a database of another application{f' (it holds {tables})' if names else ''}, not a store: "
            "it was left as it is; give another --store"
        )
    return None if version is None else str(version[0])


def connect_uri(path: Path, query: str) -> sqlite3.Connection:
    """Open a database through a SQLite URI such as `file:///x.db?mode=ro`."""
    return sqlite3.connect(f"{path.as_uri()}?{query}", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)


def reading_query(path: Path) -> dict[str, str]:
    """Return the URI parameters under which SQLite reads a store and never writes it."""
    if _is_writable(path.parent) or _has_pending_changes(path):
        return {"mode": "ro"}
    # A reader of a WAL database creates a -shm file beside it, which a read-only folder does not allow. "immutable"
    # does without, but ignores the -wal file and takes no locks: right only when there are no changes in it. Somebody
    # else who may write there and starts in the middle of our reading would disturb us, never the other way round.
    return {"mode": "ro", "immutable": "1"}


def tidy(path: Path) -> None:
    """Remove the empty `-wal` and `-shm` files that a reader of a WAL database leaves behind, if that is possible.

    SQLite does it when the last connection that may write is closed: while others are open, nothing happens.
    """
    # for tidiness only: they do no harm
    with suppress(sqlite3.Error, OSError):
        wal = _wal(path)
        if wal.exists() and wal.stat().st_size == 0 and _is_writable(path.parent):
            with closing(connect_uri(path, "mode=rw")) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _has_pending_changes(path: Path) -> bool:
    wal = _wal(path)
    return wal.exists() and wal.stat().st_size > 0


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK)


def refuse_read_only(path: Path) -> None:
    """Raise an error unless SQLite may create its files beside the store, which writing requires."""
    if path.parent.exists() and not _is_writable(path.parent):
        raise StoreError(
            f"the store {path} cannot be written: its folder is read-only for you; give another --store "
            "(or set ASSAY_STORE), or use commands that only read"
        )


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read, unless it exists."""
    # SQLite gives its -wal and -shm files the same mode
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def remove_unused(path: Path) -> None:
    """Remove a store without a paid reply, a sample or a run that went well, and its folder when nothing else is in it.

    A store that another process has open stays.
    """
    if not path.exists():
        return
    with exclusive(path):
        connection = sqlite3.connect(path, timeout=0)
        try:
            # leaving WAL mode needs the file for oneself: it is refused while anybody else has it open
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] != "delete":
                return
            connection.execute("BEGIN EXCLUSIVE")
            for rows in ("calls", "samples", "runs WHERE status != 'failed'"):
                if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {rows})").fetchone()[0]:  # noqa: S608
                    return
            path.unlink()
        except sqlite3.OperationalError:
            return
        finally:
            connection.close()
    if {entry.name for entry in path.parent.iterdir()} <= {".gitignore"}:
        (path.parent / ".gitignore").unlink(missing_ok=True)
        path.parent.rmdir()


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of a store: one process at a time creates or migrates it, and others wait."""
    lock = path.with_name(f"{path.name}.lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _wait_for(handle)
            if _is_open_as(handle, lock):
                break
        except BaseException:
            os.close(handle)
            raise
        # whoever held the lock before has removed the file: lock the one that is there now
        os.close(handle)
    try:
        yield
    finally:
        if sys.platform != "win32":
            # removed while it is still locked, so that nobody else can hold a lock on the same name
            lock.unlink(missing_ok=True)
        os.close(handle)


if sys.platform == "win32":

    def _wait_for(handle: int) -> None:
        import msvcrt

        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            except OSError:
                # it gives up after ten seconds
                continue
            return
else:

    def _wait_for(handle: int) -> None:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)


def _is_open_as(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def back_up(path: Path, version: str) -> Path:
    """Copy a store into a file beside it, checked and safe on the disk, and return the path of the copy.

    The caller holds the lock of the store, and a transaction that keeps others from writing.
    """
    for left_over in path.parent.glob(f"{path.name}.backup-*.partial"):
        left_over.unlink()
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"{path.name}.backup-{version}-{moment}"
    taken = len(list(path.parent.glob(f"{name}*")))
    copy = path.with_name(f"{name}-{taken + 1}" if taken else name)
    # under another name until it is complete: what has the name of a backup can be relied on
    partial = copy.with_name(f"{copy.name}.partial")
    try:
        create_private(partial)
        with closing(connect_uri(path, "mode=ro")) as source, closing(sqlite3.connect(partial)) as target:
            source.backup(target)
        with closing(connect_uri(partial, "mode=ro&immutable=1")) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StoreError(f"the store {path} is damaged ({' '.join(verdict.split())}): it was left as it is")
        flush(partial)
        partial.replace(copy)
        flush(path.parent)
    except (sqlite3.Error, OSError) as error:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"the store {path} could not be copied before its migration, and was left as it is: {error}"
        ) from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return copy


def flush(path: Path) -> None:
    """Make sure that a file, or the names in a folder, are on the disk."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
