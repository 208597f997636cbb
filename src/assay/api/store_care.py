"""Taking care of a store: deleting, tagging, copying and backing up runs; what `assay store` calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import SpecError
from assay.interop.archive import Restored, copy_run
from assay.store.backup import back_up_store, vacuum
from assay.store.migration_sql import pending_sql
from assay.store.retention import Deleted, Selection, delete_runs, selected
from assay.store.runs import RunRecord, find, relabel
from assay.store.store import Store, open_for_reading, open_store, shown

__all__ = [
    "Deleted",
    "Restored",
    "Selection",
    "Tagging",
    "back_up_store",
    "copy_runs",
    "delete_runs",
    "pending_sql",
    "selected",
    "tag_run",
    "vacuum",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """How the name and tags of a run change."""

    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    name: str | None = None
    unname: bool = False


def tag_run(store: Store, record: RunRecord, change: Tagging) -> RunRecord:
    """Change the name and tags of a run."""
    missing = [tag for tag in change.remove if tag not in record.tags]
    if missing:
        present = ", ".join(record.tags) or "none"
        raise SpecError(f'run {record.id} has no tag "{missing[0]}"; its tags: {present}')
    tags = [tag for tag in (*record.tags, *change.add) if tag not in change.remove]
    name = None if change.unname else change.name or record.name
    return relabel(store, record, name=name, tags=tags)


def copy_runs(source: str, target: str, names: Sequence[str]) -> list[Restored]:
    """Copy finished runs from one store to another, verified by digest; the target is created if need be."""
    if shown(source) == shown(target):
        raise SpecError("--to is the store that the runs are in: give another one")
    reading = open_for_reading(source)
    try:
        records = [find(reading, name) for name in names]
        writing = open_store(target)
        try:
            return [copy_run(reading, record, writing) for record in records]
        finally:
            writing.close()
    finally:
        reading.close()
