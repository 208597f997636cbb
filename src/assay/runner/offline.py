"""Recorded answers: no model is asked, so whole batches are scored and committed in order."""

from __future__ import annotations

from collections.abc import Iterator

from assay.datasets.batch import Batch
from assay.datasets.open import open_dataset
from assay.prepare.plan import Plan
from assay.runner.fan_out import fanned_batch
from assay.runner.progress import Listener, Progress
from assay.runner.scoring import ScoreRows, Solved, score_batch
from assay.runner.writer import RunWriter
from assay.store.runs import RunRecord
from assay.store.store import Store
from assay.types import Rows


def batches_of(plan: Plan) -> Iterator[Batch]:
    """The samples of a plan's dataset, as many as it wants."""
    return open_dataset(
        plan.dataset.kind,
        plan.dataset.settings,
        plan.dataset.folder,
        root=plan.jail,
        limit=plan.options.limit,
        subsampling=plan.options.subsampling,
        seed=plan.options.seed,
    )


def run_recorded(
    plan: Plan, store: Store, record: RunRecord, listener: Listener, score: ScoreRows | None = None
) -> None:
    """Score and commit the remaining rows; `score` runs the scorers, in this process by default."""
    writer = RunWriter(store, record.no)
    done, failed = record.cursor, 0
    for batch in _after(batches_of(plan), done):
        positions = range(done, done + len(batch.ids))
        solved = _solved(plan, batch, positions)
        failed += writer.write(solved, score_batch(plan.loaded.scorers, solved, score), cursor=positions.stop)
        done = positions.stop
        listener(Progress(done=done, failed=failed, resumed=record.cursor))


def _solved(plan: Plan, batch: Batch, positions: range) -> Solved:
    rows = Rows(positions=positions, ids=batch.ids, samples=batch.samples)
    solver = plan.loaded.solver
    if solver is None:
        return Solved(rows=rows, inputs=batch.texts)
    rows, failures = solver.kind.solve(solver.settings, rows)
    solved = Solved(rows=rows, inputs=batch.texts, failures=failures)
    return solved if solver.fan_out is None else fanned_batch(solved, solver.fan_out(solved.answered))


def _after(batches: Iterator[Batch], done: int) -> Iterator[Batch]:
    """Return the rest of a dataset whose first rows are done."""
    for batch in batches:
        size = len(batch.ids)
        if done >= size:
            done -= size
            continue
        yield batch.rest(done) if done else batch
        done = 0
