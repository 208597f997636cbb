"""Stored runs: open a store, find runs in it, read their samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.errors import Problem, SpecError
from assay.results.run import RunReport
from assay.spec.nearest import listing, nearest
from assay.spec.project import project_folder
from assay.store.decoder import Sample, read_samples
from assay.store.runs import RunRecord, all_runs, find, state
from assay.store.store import Store, default_location, open_store
from assay.summary.finish import stored_report

__all__ = [
    "RunRecord",
    "Sample",
    "Store",
    "all_runs",
    "expect_sample",
    "find",
    "open_project_store",
    "read_samples",
    "run_report",
    "state",
]

IDS_READ = 10_000
"""How many ids are read to suggest the nearest one."""


def open_project_store(location: str | None, *, create: bool = False) -> Store:
    """Open the store at `location`, or that of the project around the current folder."""
    return open_store(location or default_location(project_folder(Path.cwd() / "_")), create=create)


def run_report(store: Store, name: str) -> RunReport:
    """The metrics of a finished run as they were stored."""
    return stored_report(store, find(store, name))


def expect_sample(store: Store, record: RunRecord, sample_id: str) -> None:
    """Raise a SpecError with the nearest id, or with some that exist, unless the run has the sample."""
    if next(read_samples(store, record, sample_id=sample_id), None) is not None:
        return
    known = list(dict.fromkeys(_first_ids(store, record)))
    near = nearest(sample_id, known)
    there = "" if near else f"; its ids are {listing(known, most=5)}"
    raise SpecError(Problem(message=f'run {record.id} has no sample "{sample_id}"{there}', suggestion=near))


def _first_ids(store: Store, record: RunRecord) -> Iterator[str]:
    for _, sample in zip(range(IDS_READ), read_samples(store, record), strict=False):
        yield sample.sample_id
