"""The end of a run: compute its metrics from the committed rows, store them, and read them back later."""

from __future__ import annotations

from collections.abc import Collection

import orjson

from assay.errors import SpecError
from assay.results.document import metric_document, metric_from, report_from, summary_document
from assay.results.run import MetricReport, RunReport
from assay.spec import LoadedTask
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.calls import spending
from assay.store.row_address import RowLayout
from assay.store.runs import RunRecord, Status
from assay.store.store import Store
from assay.summary.actions import excluded
from assay.summary.inputs import MetricInputs
from assay.summary.metrics import scorer_report


def conclude(
    loaded: LoadedTask,
    store: Store,
    record: RunRecord,
    *,
    n_cached: int,
    runs_used: Collection[int] = (),
    status: Status = "completed",
) -> RunReport:
    """Compute the metrics of a run from its committed rows, and close it.

    `n_cached` answers come from the rows or replies of earlier runs; `runs_used` has the numbers of those.
    """
    rows_of = record.rows_of
    repeated = loaded.task.definition.trials
    trials = repeated.num_trials if repeated is not None else 1
    by_slot: dict[int, int] = {}
    by_kind: dict[str, int] = {}
    for slot, kind, n in evidence.failure_counts(store, rows_of):
        by_slot[slot] = by_slot.get(slot, 0) + n
        by_kind[kind] = by_kind.get(kind, 0) + n
    keys = tuple(scorer.key for scorer in loaded.scorers)
    left_out = excluded(loaded.task.definition.actions, keys, store, rows_of)
    layout = RowLayout(trials, loaded.fan_out)
    basis = MetricInputs(
        store=store,
        rows_of=rows_of,
        keys=keys,
        seed=record.seed,
        trials=repeated,
        without=left_out.positions,
        layout=layout,
        families=record.spec.dataset.families,
    )
    scorers = tuple(
        scorer_report(basis, slot, scorer, n_failed=by_slot.get(0, 0) + by_slot.get(slot, 0))
        for slot, scorer in enumerate(loaded.scorers, start=1)
    )
    report = RunReport(
        run=record.id,
        status=status,
        task=record.task,
        model=record.model,
        display_name=loaded.task.display_name,
        trials=trials,
        n_samples=evidence.count_samples(store, rows_of, layout),
        n_sources=None if layout.fan_out == 1 else evidence.count_sources(store, rows_of, layout),
        n_failed=evidence.count_failed_samples(store, rows_of, layout),
        n_cached=n_cached,
        reused_from=runs.ids_of(store, {*runs_used, rows_of} - {record.no}),
        scorers=scorers,
        failures=by_kind,
        excluded=left_out.by_rule,
        n_cut=evidence.count_cut(store, rows_of) if record.model is not None else 0,
        spending=tuple(spending(store, record.no)),
        first_failure=evidence.first_failure(store, rows_of),
    )
    keep(store, record, report)
    return report


def keep(store: Store, record: RunRecord, report: RunReport) -> None:
    """Store the metrics of a run, and close it."""
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
    runs.finish(store, record.no, status=record_status(report.status), summary=summary, documents=documents)


def record_status(status: str) -> Status:
    """Return a report's status in the store's terms."""
    return "partial" if status == "partial" else "completed"


def stored_report(store: Store, record: RunRecord) -> RunReport:
    """Read the stored metrics of a finished run."""
    if record.summary is None:
        raise SpecError(
            f"run {record.id} is {runs.state(record)} and has no metrics yet: run its file again to finish it"
        )
    metrics: dict[str, tuple[MetricReport, ...]] = {}
    for scorer, metric, kind, document in runs.metric_documents(store, record.no):
        report = MetricReport(key=metric, type=kind, result=metric_from(orjson.loads(document)))
        metrics[scorer] = (*metrics.get(scorer, ()), report)
    head = {"run": record.id, "status": record.status, "task": record.task, "model": record.model}
    return report_from(head, orjson.loads(record.summary), metrics)
