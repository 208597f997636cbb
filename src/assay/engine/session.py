"""One run from start to end: find what is done, do the rest, compute the numbers, keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import orjson

from assay.dataset.batch import Batch
from assay.dataset.open import open_dataset
from assay.engine.numbers import scorer_report
from assay.engine.prepare import Plan
from assay.engine.record import Recorder, Solved
from assay.errors import Interrupted, SpecError
from assay.report.document import metric_document, metric_from, report_from, summary_document
from assay.store import evidence, runs
from assay.store.address import MAX_SLOTS
from assay.store.runs import NewRun, RunRecord
from assay.store.store import Store
from assay.types import MetricReport, Rows, RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; `done` counts only what is committed."""

    done: int
    failed: int
    resumed: int = 0
    total: int | None = None


Listener = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report progress to nobody."""


def run_task(plan: Plan, store: Store, *, listener: Listener = silent) -> RunReport:
    """Run a prepared task to its end and give its numbers; an unfinished run goes on where it stopped."""
    if len(plan.loaded.scorers) >= MAX_SLOTS:
        raise SpecError(f"a task may have at most {MAX_SLOTS - 1} scorers")
    before = None if plan.options.fresh else runs.latest_of(store, plan.identity)
    if before is not None and before.status == "completed":
        record = runs.start(store, _new_run(plan), evidence=before.rows_of)
        return _conclude(plan, store, record, n_cached=evidence.count_samples(store, record.rows_of))
    resumed = 0
    if before is None:
        record = runs.start(store, _new_run(plan))
    else:
        record = runs.claim(store, before)
        resumed = record.cursor
    try:
        _do_the_rest(plan, store, record, listener)
        return _conclude(plan, store, record, n_cached=resumed)
    except KeyboardInterrupt as stop:
        runs.finish(store, record.no, status="interrupted", summary=None, documents=[])
        done = runs.find(store, record.id).cursor
        raise Interrupted(
            f"stopped: {done:,} samples of run {record.id} are kept; the same command goes on from there"
        ) from stop


def _new_run(plan: Plan) -> NewRun:
    return NewRun(
        identity=plan.identity,
        task=plan.loaded.task.key,
        file=str(plan.loaded.document.path),
        model=plan.options.model,
        seed=plan.options.seed,
        spec=orjson.dumps(plan.spec, option=orjson.OPT_NON_STR_KEYS, default=str).decode(),
    )


def _do_the_rest(plan: Plan, store: Store, record: RunRecord, listener: Listener) -> None:
    recorder = Recorder(store, record.no, plan.loaded.scorers)
    done, failed = record.cursor, 0
    batches = open_dataset(
        plan.dataset.kind,
        plan.dataset.settings,
        plan.dataset.folder,
        root=plan.jail,
        limit=plan.options.limit,
        seed=plan.options.seed,
    )
    for batch in _after(batches, done):
        positions = range(done, done + len(batch.ids))
        failed += recorder.record(_solved(plan, batch, positions), cursor=positions.stop)
        done = positions.stop
        listener(Progress(done=done, failed=failed, resumed=record.cursor))


def _solved(plan: Plan, batch: Batch, positions: range) -> Solved:
    rows = Rows(positions=positions, ids=batch.ids, samples=batch.samples)
    solver = plan.loaded.solver
    if solver is None:
        return Solved(rows=rows, inputs=batch.texts)
    rows, failures = solver.kind.function(solver.settings, rows)
    return Solved(rows=rows, inputs=batch.texts, failures=failures)


def _after(batches: Iterator[Batch], done: int) -> Iterator[Batch]:
    """What is left of a dataset of which the first rows are done."""
    for batch in batches:
        size = len(batch.ids)
        if done >= size:
            done -= size
            continue
        yield batch.rest(done) if done else batch
        done = 0


def _conclude(plan: Plan, store: Store, record: RunRecord, *, n_cached: int) -> RunReport:
    """Compute the numbers of a run whose rows are all committed, and close it."""
    rows_of = record.rows_of
    by_slot: dict[int, int] = {}
    by_kind: dict[str, int] = {}
    for slot, kind, n in evidence.failure_counts(store, rows_of):
        by_slot[slot] = by_slot.get(slot, 0) + n
        by_kind[kind] = by_kind.get(kind, 0) + n
    report = RunReport(
        run=record.id,
        status="completed",
        task=record.task,
        model=record.model,
        display_name=plan.loaded.task.display_name,
        n_samples=evidence.count_samples(store, rows_of),
        n_failed=evidence.count_failed_samples(store, rows_of),
        n_cached=n_cached,
        scorers=tuple(
            scorer_report(
                store,
                rows_of,
                slot,
                scorer,
                n_failed=by_slot.get(0, 0) + by_slot.get(slot, 0),
                seed=record.seed,
            )
            for slot, scorer in enumerate(plan.loaded.scorers, start=1)
        ),
        failures=by_kind,
    )
    keep_report(store, record, report)
    return report


def keep_report(store: Store, record: RunRecord, report: RunReport) -> None:
    """Close a run in the store with all its numbers."""
    documents: list[dict[str, object]] = []
    for scorer in report.scorers:
        for metric in scorer.metrics:
            documents.append(
                {
                    "place": len(documents),
                    "scorer": scorer.key,
                    "metric": metric.key,
                    "type": metric.type,
                    "document": orjson.dumps(metric_document(metric.result)).decode(),
                }
            )
    summary = orjson.dumps(summary_document(report)).decode()
    runs.finish(store, record.no, status="completed", summary=summary, documents=documents)


def stored_report(store: Store, record: RunRecord) -> RunReport:
    """The numbers of a finished run as they were kept."""
    if record.summary is None:
        raise SpecError(f"run {record.id} is {record.status} and has no numbers yet: run its file again to finish it")
    metrics: dict[str, tuple[MetricReport, ...]] = {}
    for scorer, metric, kind, document in runs.metric_documents(store, record.no):
        made = MetricReport(key=metric, type=kind, result=metric_from(orjson.loads(document)))
        metrics[scorer] = (*metrics.get(scorer, ()), made)
    head = {"run": record.id, "status": record.status, "task": record.task, "model": record.model}
    return report_from(head, orjson.loads(record.summary), metrics)
