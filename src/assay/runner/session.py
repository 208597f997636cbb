"""One run from start to end: find what is done, do the rest, compute the numbers, keep them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.errors import Interrupted, RunError, SpecError
from assay.prepare.permission import with_sandbox
from assay.prepare.plan import Options, Plan
from assay.results.run import RunReport
from assay.runner.all_samples import score_whole
from assay.runner.offline import run_recorded
from assay.runner.progress import Listener, silent
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.row_address import MAX_SLOTS
from assay.store.runs import NewRun, RunRecord, Status
from assay.store.store import Store
from assay.summary.finish import conclude

if TYPE_CHECKING:
    from assay.runner.budget import SpendingLimit
    from assay.runner.online import Ended


def run_task(plan: Plan, store: Store, *, listener: Listener = silent) -> RunReport:
    """Run a prepared task to its end and give its numbers; an unfinished run goes on where it stopped."""
    with with_sandbox(plan.loaded, plan.options.code) as loaded:
        return _run(replace(plan, loaded=loaded), store, listener)


def _run(plan: Plan, store: Store, listener: Listener) -> RunReport:
    if plan.loaded.evidence is not None:
        return _gathered(plan, store)
    begun = _begin(plan, store)
    if isinstance(begun, RunReport):
        return begun
    try:
        if not plan.is_live:
            run_recorded(plan, store, begun, listener)
            score_whole(store, begun.no, plan.loaded.scorers)
            return conclude(plan.loaded, store, begun, n_cached=begun.cursor)
        from assay.runner.online import run_live

        return _concluded(plan, store, begun, run_live(plan, store, begun, listener))
    except KeyboardInterrupt as stop:
        _put_down(store, begun, "interrupted")
        done = evidence.count_samples(store, begun.no)
        raise Interrupted(
            f"stopped: {done:,} samples of run {begun.id} are kept; {how_to_go_on(plan.options)}"
        ) from stop
    except (RunError, SpecError):
        _put_down(store, begun, "failed")
        raise


def _gathered(plan: Plan, store: Store) -> RunReport:
    """The evidence of a system task, gathered anew each time: what it looks at may have changed."""
    from assay.runner.system import gather

    record = runs.start(store, _new_run(plan))
    try:
        return gather(plan.loaded, store, record, plan.options.code)
    except RunError:
        _put_down(store, record, "failed")
        raise


async def answer_task(plan: Plan, store: Store, *, listener: Listener, purse: SpendingLimit | None) -> RunReport:
    """The same for a task that asks models, beside others in one event loop; they may pay from one purse."""
    with with_sandbox(plan.loaded, plan.options.code) as loaded:
        return await _answer(replace(plan, loaded=loaded), store, listener, purse)


async def _answer(plan: Plan, store: Store, listener: Listener, purse: SpendingLimit | None) -> RunReport:
    from asyncio import CancelledError

    from assay.runner.online import answer_all

    begun = _begin(plan, store)
    if isinstance(begun, RunReport):
        return begun
    try:
        return _concluded(plan, store, begun, await answer_all(plan, store, begun, listener, purse))
    except CancelledError:
        _put_down(store, begun, "interrupted")
        raise
    except (RunError, SpecError):
        _put_down(store, begun, "failed")
        raise


def how_to_go_on(options: Options) -> str:
    """How a run that was stopped is taken up again."""
    return f"the same command{' without --fresh' if options.fresh else ''} goes on from there"


def _begin(plan: Plan, store: Store) -> RunRecord | RunReport:
    """The run to work on, owned by this process; or its numbers when an earlier one has done all of it."""
    if len(plan.loaded.scorers) >= MAX_SLOTS:
        raise SpecError(f"a task may have at most {MAX_SLOTS - 1} scorers")
    before = None if plan.options.fresh else runs.latest_of(store, plan.identity)
    if before is not None and before.status == "completed" and not evidence.has_retryable(store, before.rows_of):
        record = runs.start(store, _new_run(plan), evidence=before.rows_of)
        return conclude(plan.loaded, store, record, n_cached=evidence.count_samples(store, record.rows_of))
    if before is None or before.status == "completed":
        return runs.start(store, _new_run(plan))
    return runs.claim(store, before)


def _concluded(plan: Plan, store: Store, record: RunRecord, ended: Ended) -> RunReport:
    score_whole(store, record.no, plan.loaded.scorers)
    return conclude(plan.loaded, store, record, n_cached=ended.cached, status=ended.status)


def _put_down(store: Store, record: RunRecord, status: Status) -> None:
    """Leave a run as it is, for the next process to take up."""
    runs.finish(store, record.no, status=status, summary=None, documents=[])


def _new_run(plan: Plan) -> NewRun:
    return NewRun(
        identity=plan.identity,
        file=str(plan.loaded.document.path),
        model=plan.model_name,
        spec=plan.spec,
    )
