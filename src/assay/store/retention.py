"""Deleting runs: rows and replies that other runs share are handed over to one of them first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import Connection, delete, func, select, update

from assay.errors import SpecError
from assay.store.row_address import bounds
from assay.store.run_rows import EVIDENCE
from assay.store.runs import RunRecord, Status, all_runs, state
from assay.store.schema import calls, metrics, runs, samples
from assay.store.store import Store

PAGE = 5_000
KEYS_PER_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The runs to prune: those that match every given rule.

    `keep` spares the newest runs of each task and model. Runs with a name are spared unless `named` is set.
    """

    before: datetime | None = None
    keep: int | None = None
    status: frozenset[Status] = frozenset()
    tag: str | None = None
    named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a deletion removed, and what it kept for other runs."""

    runs: tuple[RunRecord, ...]
    n_samples: int
    n_replies: int
    n_replies_kept: int


def selected(store: Store, selection: Selection) -> list[RunRecord]:
    """The runs that a selection names, newest first; one that a live process works on is never among them."""
    chosen: list[RunRecord] = []
    n_seen: dict[tuple[str, str | None], int] = {}
    for record in all_runs(store, None, steps=True):
        key = (record.task, record.model)
        n_seen[key] = n_seen.get(key, 0) + 1
        status = state(record)
        if (
            status != "running"
            and (selection.named or record.name is None)
            and (selection.keep is None or n_seen[key] > selection.keep)
            and (selection.before is None or datetime.fromisoformat(record.started_at) < selection.before)
            and (not selection.status or status in selection.status)
            and (selection.tag is None or selection.tag in record.tags)
        ):
            chosen.append(record)
    return chosen


def delete_runs(store: Store, records: Sequence[RunRecord]) -> Deleted:
    """Delete runs with their samples, scores, votes, metrics and replies in one transaction; human labels stay."""
    for record in records:
        if state(record) == "running":
            raise SpecError(f"run {record.id} is being worked on: stop it first")
    doomed = {record.no for record in records}
    with store.begin() as connection:
        n_samples = sum(_delete_evidence(connection, record.no, doomed) for record in records)
        n_replies, n_kept = _delete_replies(connection, doomed)
        for no in doomed:
            connection.execute(delete(metrics).where(metrics.c.run_no == no))
            connection.execute(delete(runs).where(runs.c.no == no))
    return Deleted(runs=tuple(records), n_samples=n_samples, n_replies=n_replies, n_replies_kept=n_kept)


def _delete_evidence(connection: Connection, no: int, doomed: Collection[int]) -> int:
    """Delete the rows of a run, or hand them over to a run that shows them too; returns how many samples are gone."""
    low, high = bounds(no)
    sharing = select(runs.c.no).where(runs.c.evidence == no, runs.c.no.not_in(doomed)).order_by(runs.c.no)
    heirs = connection.execute(sharing).scalars().all()
    if heirs:
        moved = bounds(heirs[0])[0] - low
        for table in EVIDENCE:
            key = next(iter(table.c))
            connection.execute(update(table).where(key >= low, key < high).values({key: key + moved}))
        connection.execute(update(runs).where(runs.c.no.in_(heirs[1:])).values(evidence=heirs[0]))
        connection.execute(update(runs).where(runs.c.no == heirs[0]).values(evidence=None))
        return 0
    within = samples.c.id.between(low, high - 1)
    n_samples = int(connection.execute(select(func.count()).select_from(samples).where(within)).scalar_one())
    for table in EVIDENCE:
        key = next(iter(table.c))
        connection.execute(delete(table).where(key >= low, key < high))
    return n_samples


def _delete_replies(connection: Connection, doomed: Collection[int]) -> tuple[int, int]:
    """Delete the replies that runs paid for; a reply that another run used is reassigned to that run."""
    paid = calls.c.run_no.in_(doomed)
    n_paid = int(connection.execute(select(func.count()).select_from(calls).where(paid)).scalar_one())
    if n_paid == 0:
        return 0, 0
    n_kept = 0
    owners = {
        row.evidence or row.no: row.no
        for row in connection.execute(select(runs.c.no, runs.c.evidence).where(runs.c.no.not_in(doomed)))
    }
    for rows_of, heir in owners.items():
        low, high = bounds(rows_of)
        last = low - 1
        while True:
            query = select(samples.c.id, samples.c.calls).where(samples.c.id > last, samples.c.id < high)
            query = query.where(samples.c.calls.is_not(None)).order_by(samples.c.id).limit(PAGE)
            page = connection.execute(query).all()
            if not page:
                break
            last = page[-1].id
            keys = [bytes.fromhex(call["key"]) for row in page for call in orjson.loads(row.calls)]
            for start in range(0, len(keys), KEYS_PER_QUERY):
                used = calls.c.key.in_(keys[start : start + KEYS_PER_QUERY])
                n_kept += connection.execute(update(calls).where(paid, used).values(run_no=heir)).rowcount
    connection.execute(delete(calls).where(paid))
    return n_paid - n_kept, n_kept
