"""Stored runs: open a store, find runs in it, read their samples."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.errors import Problem, SpecError
from assay.evaluation.stored import stored_evaluation
from assay.interop.archive import SUFFIX, attach_archive
from assay.results.costs import CostReport, RunCost
from assay.results.run import RunReport
from assay.spec.nearest import listing, nearest
from assay.spec.project import project_folder
from assay.store.calls import spending
from assay.store.damage import damage_of
from assay.store.decoder import Sample, read_samples
from assay.store.info import StoreInfo, store_info
from assay.store.postgres import is_postgres
from assay.store.runs import RunRecord, all_runs, state
from assay.store.runs import find as find_stored
from assay.store.schema import SCHEMA_VERSION
from assay.store.store import (
    OPENED,
    Store,
    bring_up_to_date,
    default_location,
    explained,
    migration_words,
    no_store,
    open_for_reading,
    open_store,
    remove_new_stores,
    shown,
    store_exists,
    store_path,
)
from assay.summary.finish import stored_report

__all__ = [
    "SCHEMA_VERSION",
    "RunRecord",
    "Sample",
    "Store",
    "StoreInfo",
    "all_runs",
    "expect_sample",
    "find",
    "migrate_store",
    "open_project_store",
    "project_location",
    "read_project_store",
    "read_samples",
    "remove_new_stores",
    "report_of",
    "run_costs",
    "run_report",
    "state",
    "store_damage",
    "store_info",
    "stored_evaluation",
]

IDS_READ = 10_000
"""The number of ids that are read to suggest the nearest one."""


def project_location(location: str | None) -> str:
    """Return the location itself, or that of the store of the project around the current folder."""
    return location or default_location(project_folder(Path.cwd() / "_"))


def open_project_store(location: str | None, *, create: bool = True) -> Store:
    """Open a store for writing: the one at `location`, or that of the project around the current folder.

    An older store is migrated after a backup. With `create=False` a missing one is an error.
    """
    return open_store(project_location(location), create=create)


def read_project_store(location: str | None, names: Sequence[str] = ()) -> Store:
    """Open a store for reading: the one at `location`, or that of the project around the current folder.

    `names` are the runs that will be asked for: where all of them are archives, no store is needed.
    """
    path = project_location(location)
    if names and location is None and all(map(is_archive_name, names)) and not store_path(path).exists():
        folder = TemporaryDirectory(prefix="assay-")
        path = str(Path(folder.name) / "empty.db")
        open_store(path).close()
        opened = open_for_reading(path)
        opened.own(folder)
        return opened
    return open_for_reading(path)


def is_archive_name(name: str) -> bool:
    """Return whether a run is named by the path of an archive."""
    return name.lower().endswith(SUFFIX)


def find(store: Store, name: str) -> RunRecord:
    """Find a run by name in the store, or in a run archive if the name ends in `.assay`.

    An archive is read beside the store; nothing is written to it.
    """
    return attach_archive(store, Path(name)) if is_archive_name(name) else find_stored(store, name)


def migrate_store(location: str) -> str:
    """Bring an existing store up to date, a SQLite file after a backup, and say what was done."""
    place = shown(location) if is_postgres(location) else str(store_path(location))
    with explained(place):
        if not store_exists(location):
            raise no_store(place)
    migration = bring_up_to_date(location)
    if migration is None:
        return f"the store {place} is up to date (schema {SCHEMA_VERSION})"
    return migration_words(place, migration)


def store_damage() -> str | None:
    """Say what is wrong with the first damaged store among those that this process has opened."""
    for path in OPENED:
        damage = damage_of(path)
        if damage is not None:
            return f"the store {path} is damaged: {damage}; restore it from a backup, or give another --store"
    return None


def run_report(store: Store, name: str) -> RunReport:
    """The metrics of a finished run as they were stored."""
    return report_of(store, find(store, name))


def report_of(store: Store, record: RunRecord) -> RunReport:
    """The metrics of a finished run as they were stored, from its record."""
    return stored_report(store, record)


def run_costs(store: Store, since: datetime | None = None) -> CostReport:
    """Return the spending of the runs since a moment, including audit probes and generated datasets.

    A reply that was asked for again replaces the older one in the store; the summaries of finished runs still count
    both, so these are what is added up.
    """
    costs = []
    for record in all_runs(store, None, steps=True):
        if since is not None and datetime.fromisoformat(record.started_at) < since:
            continue
        spent = spending(store, record.no) if record.summary is None else report_of(store, record).spending
        if spent:
            costs.append(
                RunCost(
                    run=record.id,
                    name=record.name,
                    kind=record.kind,
                    task=record.task,
                    started_at=record.started_at,
                    spending=tuple(spent),
                )
            )
    return CostReport(since=None if since is None else since.isoformat(), runs=tuple(costs))


def expect_sample(store: Store, record: RunRecord, sample_id: str) -> None:
    """Raise a SpecError with the nearest id, or with some that exist, unless the run has the sample."""
    if next(read_samples(store, record, sample_id=sample_id), None) is not None:
        return
    ids = list(dict.fromkeys(sample.sample_id for sample in islice(read_samples(store, record), IDS_READ)))
    closest = nearest(sample_id, ids)
    examples = "" if closest else f"; its ids are {listing(ids, most=5)}"
    raise SpecError(Problem(message=f'run {record.id} has no sample "{sample_id}"{examples}', suggestion=closest))
