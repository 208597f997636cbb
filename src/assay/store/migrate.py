"""Bring an older store up to date with Alembic; imported only when its version differs."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from assay.errors import StoreError
from assay.store import schema


def migrate(engine: Engine, *, found: str, location: str) -> None:
    """Upgrade the tables; a store made by a newer assay is refused untouched."""
    config = configuration()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found not in known:
        raise StoreError(
            f"the store {location} was written by a newer assay (schema {found}; this one knows up to "
            f"{schema.SCHEMA_VERSION}): upgrade assay, or give another --store"
        )
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def configuration() -> Config:
    """Alembic's settings: the migrations that ship inside the package."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
