"""The SQL that creates or migrates a store, for people who apply it by hand."""

from __future__ import annotations

import io

from alembic import command
from sqlalchemy import Dialect
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateIndex, CreateTable

from assay.errors import SpecError
from assay.store import postgres, schema
from assay.store.migrate import configuration
from assay.store.postgres import is_postgres
from assay.store.store import explained, shown, stored_schema

MOVES_DATA = "0005"
"""Migrations up to this one read and rewrite rows, which a list of statements cannot do."""


def pending_sql(location: str) -> str:
    """Return the statements that a store still needs, all tables if it does not exist; empty if it is up to date."""
    with explained(shown(location)):
        version = stored_schema(location)
    if version == schema.SCHEMA_VERSION:
        return ""
    if version is None:
        return _all_tables(location)
    if version < MOVES_DATA:
        raise SpecError(f"the migrations of schema {version} move rows, not only tables: use `assay store migrate`")
    output = io.StringIO()
    config = configuration()
    config.output_buffer = output
    config.attributes["dialect"] = "postgresql" if is_postgres(location) else "sqlite"
    command.upgrade(config, f"{version}:head", sql=True)
    return _search_path(location) + output.getvalue()


def _all_tables(location: str) -> str:
    dialect: Dialect = registry.load("postgresql" if is_postgres(location) else "sqlite")()
    statements: list[str] = []
    if is_postgres(location):
        statements.append(f'CREATE SCHEMA IF NOT EXISTS "{postgres.address_of(location).project}"')
    for table in schema.metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    statements.append(f"INSERT INTO {schema.version.name} VALUES ('{schema.SCHEMA_VERSION}')")  # noqa: S608 - ours
    if is_postgres(location):
        statements.insert(1, _search_path(location).strip().rstrip(";"))
    return "BEGIN;\n\n" + "".join(f"{statement};\n\n" for statement in statements) + "COMMIT;\n"


def _search_path(location: str) -> str:
    return f'SET search_path TO "{postgres.address_of(location).project}";\n\n' if is_postgres(location) else ""
