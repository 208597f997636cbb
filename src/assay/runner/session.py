"""A run from start to end: find finished work, do the rest, compute and store the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import Interrupted, RunError, SpecError
from assay.models import logs
from assay.models.event_loop import run_to_end
from assay.prepare.permission import with_sandbox
from assay.prepare.plan import Options, Plan
from assay.prepare.seeds import seeded
from assay.results.run import RunReport
from assay.runner.all_samples import score_whole
from assay.runner.executor import actors_of
from assay.runner.offline import run_recorded
from assay.runner.progress import Listener, silent
from assay.spec import LoadedTask
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.row_address import MAX_SLOTS
from assay.store.runs import NewRun, RunRecord
from assay.store.store import Store
from assay.summary.finish import conclude

if TYPE_CHECKING:
    from assay.runner.budget import SpendingLimit


def run_task(plan: Plan, store: Store, *, listener: Listener = silent) -> RunReport:
    """Run a prepared task to its end and return its metrics; an unfinished run is resumed."""
    try:
        if plan.is_live:
            return run_to_end(arun_task(plan, store, listener=listener))
        with with_sandbox(plan.loaded, plan.options.code) as loaded:
            return _run_offline(replace(plan, loaded=loaded), store, listener, plan.loaded)
    except KeyboardInterrupt as stop:
        record = runs.latest_of(store, plan.identity)
        if record is None:
            raise
        done = evidence.count_samples(store, record.no)
        raise Interrupted(
            f"stopped: {done:,} samples of run {record.id} are kept; {how_to_go_on(plan.options)}"
        ) from stop


async def arun_task(
    plan: Plan, store: Store, *, listener: Listener = silent, spending_limit: SpendingLimit | None = None
) -> RunReport:
    """Run a prepared task in the caller's event loop, beside others that may share one spending limit."""
    if not plan.is_live:
        return await asyncio.to_thread(run_task, plan, store, listener=listener)
    from assay.runner.online import answer_all

    unbound = plan.loaded
    with with_sandbox(unbound, plan.options.code) as loaded:
        plan = replace(plan, loaded=loaded)
        begun = _begin(plan, store)
        if isinstance(begun, RunReport):
            return begun
        with _marked_when_stopped(store, begun):
            with actors_of(plan, unbound, seeded(unbound.scorers, store)) as pool:
                ended = await answer_all(plan, store, begun, listener, spending_limit, pool)
            score_whole(store, begun.no, loaded.scorers)
            return conclude(loaded, store, begun, n_cached=ended.cached, runs_used=ended.runs_used, status=ended.status)


def _run_offline(plan: Plan, store: Store, listener: Listener, unbound: LoadedTask) -> RunReport:
    """Gather evidence, or score recorded answers: no model is asked."""
    if plan.loaded.evidence is not None:
        return _gather_evidence(plan, store)
    begun = _begin(plan, store)
    if isinstance(begun, RunReport):
        return begun
    with _marked_when_stopped(store, begun):
        with actors_of(plan, unbound, unbound.scorers) as pool:
            run_recorded(plan, store, begun, listener, None if pool is None else pool.score)
        score_whole(store, begun.no, plan.loaded.scorers)
        return conclude(plan.loaded, store, begun, n_cached=begun.cursor)


def _gather_evidence(plan: Plan, store: Store) -> RunReport:
    """The evidence of a system task, gathered anew each time: what it looks at may have changed."""
    from assay.runner.system import gather

    record = runs.start(store, _new_run(plan))
    with _marked_when_stopped(store, record):
        return gather(plan.loaded, store, record, plan.options.code)


@contextmanager
def _marked_when_stopped(store: Store, record: RunRecord) -> Iterator[None]:
    """Mark a run that does not reach its end, so that it can be resumed."""
    with logs.within(run=record.id):
        logs.event(logs.INFO, "run resumed" if record.cursor else "run started", task=record.task, model=record.model)
        try:
            yield
        except (KeyboardInterrupt, asyncio.CancelledError):
            runs.finish(store, record.no, status="interrupted", summary=None, documents=[])
            raise
        except (RunError, SpecError):
            runs.finish(store, record.no, status="failed", summary=None, documents=[])
            raise


def how_to_go_on(options: Options) -> str:
    """Describe how to resume a stopped run."""
    return f"the same command{' without --fresh' if options.fresh else ''} goes on from there"


def _begin(plan: Plan, store: Store) -> RunRecord | RunReport:
    """Return the run to work on, owned by this process; or its report if an earlier run is complete."""
    if len(plan.loaded.scorers) >= MAX_SLOTS:
        raise SpecError(f"a task may have at most {MAX_SLOTS - 1} scorers")
    before = None if plan.options.fresh else runs.latest_of(store, plan.identity)
    if before is not None and before.status == "completed" and not evidence.has_retryable(store, before.rows_of):
        # nothing is left to ask: the new run shares the rows of the old one, and only its metrics are computed
        record = runs.start(store, _new_run(plan), evidence=before.rows_of)
        with logs.within(run=record.id):
            logs.event(logs.INFO, "run reused", task=record.task, model=record.model, rows_of=before.id)
            return conclude(plan.loaded, store, record, n_cached=evidence.count_samples(store, record.rows_of))
    if before is None or before.status == "completed":
        return runs.start(store, _new_run(plan), alone=not plan.options.fresh)
    # an unfinished run goes on under its own id, with whatever name the user gives it now
    return runs.rename(store, runs.claim(store, before), plan.spec)


def _new_run(plan: Plan) -> NewRun:
    return NewRun(
        identity=plan.identity,
        file=str(plan.loaded.document.path),
        model=plan.model_name,
        spec=plan.spec,
    )
