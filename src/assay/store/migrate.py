"""Bring an older store up to date with Alembic; imported only when its version differs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.store import schema


@dataclass(frozen=True, slots=True)
class Migration:
    """The result of a migration: the versions before and after, and the backup of a SQLite store."""

    before: str
    after: str
    backup: Path | None = None


def migrate(connection: Connection, *, location: str, version: str, backup: Path | None = None) -> Migration:
    """Upgrade the tables of a store in the connection's transaction; `backup` is the copy made before."""
    config = configuration()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except (CommandError, SQLAlchemyError) as error:
        cause = getattr(error, "orig", None) or error
        copy = "" if backup is None else f"; the backup is {backup}"
        raise StoreError(
            f"the store {location} cannot be migrated from schema {version}, and was left as it is: {cause}{copy}"
        ) from error
    return Migration(version, schema.SCHEMA_VERSION, backup)


def configuration() -> Config:
    """Alembic's settings: the migrations that ship inside the package."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
