"""A run that calls models: from the plan to committed rows, on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from assay.prepare.plan import Plan
from assay.prepare.seeds import seeded
from assay.runner.budget import SpendingLimit
from assay.runner.cell import Cell, Work
from assay.runner.executor import leased
from assay.runner.fan_out import done_cells
from assay.runner.models import Models
from assay.runner.offline import batches_of
from assay.runner.pipeline import Engine
from assay.runner.progress import Listener, Progress, silent
from assay.runner.reply_cache import ReplyCache
from assay.runner.writer import RunWriter
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.calls import spending
from assay.store.runs import RunRecord, Status
from assay.store.store import Store
from assay.types import Sampling

if TYPE_CHECKING:
    from assay.runner.ray_pool import Pool

TICK_S = 0.2
HEARTBEAT_TICKS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The outcome of a live run."""

    status: Status
    cached: int
    runs_used: frozenset[int]


async def answer_all(
    plan: Plan,
    store: Store,
    record: RunRecord,
    listener: Listener,
    purse: SpendingLimit | None = None,
    pool: Pool | None = None,
) -> Ended:
    """Ask the models about every cell that is not done; what is answered is committed whatever happens.

    Several runs may share one spending limit.
    """
    evidence.drop_retryable(store, record.no, fanout=plan.loaded.fan_out)
    options = plan.options
    # an unfinished run keeps what it paid for, even when it was told not to trust older replies
    memory = ReplyCache(store, record.no, "update" if options.fresh else options.cache_policy)
    if purse is None and options.max_cost is not None:
        purse = SpendingLimit(options.max_cost)
    if purse is not None:
        purse.note_spent(sum((spent.cost_usd or Decimal(0) for spent in spending(store, record.no)), Decimal(0)))
    # calls with different salts never share a reply: without a cache, a run has a salt of its own
    salt = record.id if options.cache_policy == "no-cache" else repeat_salt(plan)
    models = Models(leased(plan, pool), memory, purse=purse, max_concurrency=options.max_concurrency, salt=salt)
    done = done_cells(store, record.no, plan.layout)
    work = Work(
        solver=plan.loaded.solver,
        scorers=seeded(plan.loaded.scorers, store),
        clients={key: policies.client for key, policies in models.by_key.items()},
        sampling={key: defaults_of(policies.connection.sampling) for key, policies in models.by_key.items()},
        width=max(1, models.width),
        reads_sample=frozenset(key for key, policies in models.by_key.items() if policies.connection.reads_sample),
    )
    score = None if pool is None else pool.score
    engine = Engine(work, memory, RunWriter(store, record.no), done=len(done), score=score)
    watching = asyncio.create_task(_watch(engine, models, memory, listener, store, record, plan))
    if pool is not None:
        pool.begin()
    try:
        await engine.run(cells_of(plan, iter(done)))
    finally:
        watching.cancel()
        if pool is not None:
            await pool.stop_exchange()
        await asyncio.gather(watching, return_exceptions=True)
        await models.close()
        memory.close()
    return Ended(
        status="partial" if engine.out_of_budget else "completed",
        cached=engine.cached,
        runs_used=memory.runs_used,
    )


def repeat_salt(plan: Plan) -> str:
    """Return the salt that distinguishes the calls of a repeated run from those of the first."""
    return f"repeat {plan.options.repeat}" if plan.options.repeat else ""


def defaults_of(sampling: Sampling) -> Sampling | None:
    """Return a model's own sampling settings; None if it has none."""
    return None if sampling == Sampling() else sampling


def cells_of(plan: Plan, done: Iterator[int]) -> Iterator[Cell]:
    """Yield every sample once per trial, in order; finished ones are marked."""
    trials = plan.layout.trials
    next_done = next(done, None)
    position = 0
    for batch in batches_of(plan):
        for sample_id, sample, text in zip(batch.ids, batch.samples, batch.texts, strict=True):
            for trial in range(trials):
                is_done = position == next_done
                if is_done:
                    next_done = next(done, None)
                yield Cell(position=position, trial=trial, sample_id=sample_id, sample=sample, text=text, done=is_done)
                position += 1


async def _watch(
    engine: Engine,
    models: Models,
    memory: ReplyCache,
    listener: Listener,
    store: Store,
    record: RunRecord,
    plan: Plan,
) -> None:
    """Report progress to the listener, and heartbeats to the store."""
    resumed = engine.done
    # counting reads the whole dataset a second time: not where nobody looks
    total = None if listener is silent else await asyncio.to_thread(count_cells, plan)
    tick = 0
    while True:
        await asyncio.sleep(TICK_S)
        tick += 1
        listener(
            Progress(
                done=engine.done,
                failed=engine.failed,
                cached=engine.cached,
                resumed=resumed,
                total=total,
                in_flight=models.in_flight,
                cost_usd=None if memory.unpriced else memory.spent_usd,
                waiting=models.waiting(asyncio.get_running_loop().time()),
            )
        )
        if tick % HEARTBEAT_TICKS == 0:
            await asyncio.to_thread(runs.beat, store, record.no)


def count_cells(plan: Plan) -> int:
    """Return the number of cells of a plan: samples times trials."""
    trials = plan.layout.trials
    return trials * sum(len(batch) for batch in batches_of(plan))
