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
from assay.store.sqlite_file import back_up


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did: the versions before and after, and the copy of the store as it was."""

    before: str
    after: str
    backup: Path


def migrate(connection: Connection, *, path: Path, version: str) -> Migration:
    """Back the store up, then upgrade its tables in the transaction of the connection."""
    backup = back_up(path, version)
    config = configuration()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except (CommandError, SQLAlchemyError) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(
            f"the store {path} cannot be migrated from schema {version}, and was left as it is: {cause}; "
            f"the backup is {backup}"
        ) from error
    return Migration(version, schema.SCHEMA_VERSION, backup)


def configuration() -> Config:
    """Alembic's settings: the migrations that ship inside the package."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
