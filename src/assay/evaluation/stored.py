"""An evaluation as the store has it, put together from the runs of its specifications, whichever process made them."""

from __future__ import annotations

from assay.evaluation.repeatability import repeatability
from assay.results.costs import merged
from assay.results.evaluation import EvaluationRunReport, SpecificationReport
from assay.store.runs import RunRecord, runs_of_evaluation, state
from assay.store.store import Store
from assay.summary.finish import stored_report


def stored_evaluation(store: Store, key: str) -> EvaluationRunReport | None:
    """The newest run of every specification of an evaluation; None where no run belongs to one of that key.

    Policies stand in the run file: `assay run` judges them.
    """
    newest: dict[str, dict[int, RunRecord]] = {}
    for record in runs_of_evaluation(store, key):
        newest.setdefault(record.specification or record.task, {}).setdefault(record.repeat, record)
    if not newest:
        return None
    # the oldest specification first: the order in which one process would have run them
    ordered = sorted(newest.items(), key=lambda entry: min(record.no for record in entry[1].values()))
    return EvaluationRunReport(
        key=key,
        display_name=key,
        specifications=tuple(_specification(store, name, repeats) for name, repeats in ordered),
    )


def _specification(store: Store, name: str, repeats: dict[int, RunRecord]) -> SpecificationReport:
    records = [record for _, record in sorted(repeats.items())]
    finished = [record for record in records if record.summary is not None]
    reports = [stored_report(store, record) for record in finished]
    unfinished = [record for record in records if record.summary is None]
    spending = merged(spent for report in reports for spent in report.spending)
    return SpecificationReport(
        key=name,
        task=records[0].task,
        model=records[0].model,
        report=reports[0] if reports else None,
        error=f"run {unfinished[0].id} is {state(unfinished[0])}" if unfinished else None,
        repeatability=repeatability(store, reports) if len(reports) > 1 else None,
        spending=spending,
        spending_of_all_runs=spending,
    )
