"""The stored rows of one run for archives: read table by table, written under another number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, LargeBinary, Select, Table, select

from assay.store.row_address import bounds, pack, unpack
from assay.store.runs import RunRecord
from assay.store.schema import calls, failures, labels, metrics, runs, samples, scores, unsettled, votes
from assay.store.store import Store, insert_many

Row = dict[str, Any]
"""One row of a table as JSON: keys as position and slot, bytes in hexadecimal."""

EVIDENCE: tuple[Table, ...] = (samples, scores, failures, unsettled, votes)
"""The tables whose rows are addressed by run, position and slot."""
ELSEWHERE = {"no", "owner", "heartbeat_at", "evidence"}
"""Columns of a run that have a meaning only in the store and for the process that wrote them."""
_PAGE = 5_000


def run_row(store: Store, record: RunRecord) -> Row:
    """The row of a run, without what has a meaning only in its store."""
    with store.connect() as connection:
        row = connection.execute(select(runs).where(runs.c.no == record.no)).one()._mapping
    return {str(name): value for name, value in row.items() if name not in ELSEWHERE}


def table_rows(store: Store, record: RunRecord, table: Table) -> Iterator[Row]:
    """The rows of a run in one table, in the order of their keys."""
    with store.connect() as connection:
        result = connection.execution_options(yield_per=_PAGE).execute(_rows_of(record, table))
        for row in result:
            values: Row = {
                str(name): value.hex() if isinstance(value, bytes) else value for name, value in row._mapping.items()
            }
            if table in EVIDENCE:
                _, position, slot = unpack(values.pop(_key(table)))
                values = {"position": position, "slot": slot, **values}
            values.pop("run_no", None)
            yield values


def _rows_of(record: RunRecord, table: Table) -> Select[Any]:
    query = select(table).order_by(*table.primary_key)
    if table in EVIDENCE:
        low, high = bounds(record.rows_of)
        key = table.c[_key(table)]
        return query.where(key >= low, key < high)
    if table is labels:
        return query.where(labels.c.run == record.id)
    return query.where(
        table.c.run_no.in_({record.no, record.rows_of}) if table is calls else table.c.run_no == record.no
    )


def _key(table: Table) -> str:
    """The column that packs run, position and slot."""
    return next(iter(table.c)).name


def insert_run(connection: Connection, row: Row, *, no: int | None = None) -> int:
    """Write the row of a run under its number, by default the next one, and return the number."""
    number = {} if no is None else {"no": no}
    result = connection.execute(runs.insert().values(**row, **number))
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


def insert_rows(connection: Connection, run_no: int, table: Table, rows: Iterable[Row]) -> None:
    """Insert rows of one table under the number of a run; existing labels and replies stay unchanged."""
    if table in EVIDENCE:
        insert_many(connection, table.name, len(table.c), (_packed(run_no, table, row) for row in rows))
        return
    for row in rows:
        values = {**row, "run_no": run_no} if "run_no" in table.c else row
        values = {name: _stored(table, name, value) for name, value in values.items()}
        same = [column == values[column.name] for column in table.primary_key]
        if connection.execute(select(table).where(*same).limit(1)).first() is None:
            connection.execute(table.insert().values(**values))


def _packed(run_no: int, table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    _, *others = table.c
    return (
        pack(run_no, row["position"], row["slot"]),
        *(_stored(table, column.name, row.get(column.name)) for column in others),
    )


def _stored(table: Table, name: str, value: Any) -> Any:
    return bytes.fromhex(value) if value is not None and isinstance(table.c[name].type, LargeBinary) else value


MEMBERS: dict[str, Table] = {str(table.name): table for table in (metrics, *EVIDENCE, labels, calls)}
"""The tables whose rows an archive may contain."""
