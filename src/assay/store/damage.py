"""Diagnose a damaged store, after a command failed on it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from assay.store import schema
from assay.store.sqlite_file import connect_uri

_JSON = {
    "runs": {"spec": "object", "summary": "object", "tags": "array"},
    "samples": {"input": "object", "trace": "array", "calls": "array"},
    "scores": {"values": "object", "metadata": "object"},
    "votes": {"extra": "object"},
    "metrics": {"document": "object"},
    "calls": {"reply": "object"},
}
"""The columns that contain JSON, with the type of each where it is not null."""


_ODD = {
    "a run without a task": "SELECT count(*) FROM runs "
    "WHERE coalesce(json_type(spec, '$.task'), json_type(spec, '$.definition')) IS NULL",
    "a summary without the number of samples": "SELECT count(*) FROM runs WHERE summary IS NOT NULL "
    "AND (json_type(summary, '$.n_samples') IS NOT 'integer' OR json_type(summary, '$.scorers') IS NOT 'array')",
    "a metric without values": "SELECT count(*) FROM metrics WHERE json_type(document, '$.values') IS NOT 'object'",
    "a run without a time": "SELECT count(*) FROM runs WHERE started_at NOT LIKE '____-__-__T__:__%'",
    "a run of unknown status": "SELECT count(*) FROM runs "
    "WHERE status NOT IN ('running', 'completed', 'partial', 'failed', 'interrupted')",
}
"""Rows that no assay writes, each with a query that counts them."""


def damage_of(path: Path) -> str | None:
    """Say what is wrong with the file of a store, None when it is whole; the file is only read."""
    try:
        with closing(connect_uri(path, "mode=ro")) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                return " ".join(str(verdict).split())
            for table in schema.metadata.sorted_tables:
                columns = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table.name})")}
                missing = [column.name for column in table.c if column.name not in columns]
                if missing:
                    return f"the table {table.name} has no column {missing[0]}" if columns else f"no table {table.name}"
            for name, kinds in _JSON.items():
                for column, kind in kinds.items():
                    odd = (
                        f'SELECT count(*) FROM {name} WHERE "{column}" IS NOT NULL '  # noqa: S608
                        f'AND NOT (json_valid("{column}") AND json_type("{column}") = \'{kind}\')'
                    )
                    (n,) = connection.execute(odd).fetchone()
                    if n:
                        return f"{name}.{column} is not a JSON {kind} in {n:,} of its rows"
            for rows, query in _ODD.items():
                (n,) = connection.execute(query).fetchone()
                if n:
                    return f"it holds {rows} ({n:,} rows)"
    except (sqlite3.Error, OSError) as error:
        return str(error)
    return None
