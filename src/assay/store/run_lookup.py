"""Pages of runs, and the neighbours of a run."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, or_, select

from assay.store.row_address import STEP, bounds
from assay.store.run_spec import STEPS
from assay.store.runs import RunRecord, record_of
from assay.store.schema import failures, runs, samples
from assay.store.store import Store


def runs_before(store: Store, no: int | None, limit: int, *, text: str = "") -> list[RunRecord]:
    """Return the newest runs older than a given one, newest first; `text` selects by name or task."""
    query = select(runs).where(runs.c.kind.not_in(sorted(STEPS))).order_by(runs.c.no.desc()).limit(limit)
    if no is not None:
        query = query.where(runs.c.no < no)
    if text:
        columns = (runs.c.id, runs.c.name, runs.c.task, runs.c.model, runs.c.tags, runs.c.evaluation)
        query = query.where(or_(*(column.icontains(text, autoescape=True) for column in columns)))
    with store.connect() as connection:
        return [record_of(row) for row in connection.execute(query)]


def previous_runs(store: Store, records: Collection[RunRecord]) -> dict[str, RunRecord]:
    """For each run the newest finished run of its task that is older, by the id of the run."""
    previous: dict[str, RunRecord] = {}
    with store.connect() as connection:
        for record in records:
            older = (runs.c.task == record.task) & (runs.c.no < record.no) & runs.c.summary.is_not(None)
            query = select(runs).where(older, runs.c.kind.not_in(sorted(STEPS))).order_by(runs.c.no.desc()).limit(1)
            row = connection.execute(query).first()
            if row is not None:
                previous[record.id] = record_of(row)
    return previous


def count_rows(store: Store, run_no: int) -> int:
    """Count the stored rows of a run, with each trial and part counted separately."""
    low, high = bounds(run_no)
    with store.connect() as connection:
        within = (samples.c.id >= low) & (samples.c.id < high)
        return int(connection.execute(select(func.count()).select_from(samples).where(within)).scalar_one())


def latest_failures(store: Store, run_no: int, limit: int) -> list[tuple[int, str, str]]:
    """Position, kind and detail of the last failures of a run."""
    low, high = bounds(run_no)
    within = (failures.c.id >= low) & (failures.c.id < high)
    query = select(failures.c.id, failures.c.kind, failures.c.detail).where(within)
    with store.connect() as connection:
        rows = connection.execute(query.order_by(failures.c.id.desc()).limit(limit)).all()
    return [((key - low) // STEP, kind, detail) for key, kind, detail in rows]
