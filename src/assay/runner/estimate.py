"""Estimate the calls and cost of a run before anything is spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from assay.models.cache_key import call_key, canonical, endpoint_prefix
from assay.models.client import CallError
from assay.models.connect import Connection
from assay.models.event_loop import run_to_end
from assay.models.limit import estimate_tokens
from assay.prepare.plan import Plan
from assay.prepare.seeds import seeded
from assay.results.estimate import Estimate, ExpectedPrecision, ModelEstimate, TokenRange
from assay.runner.cell import Cell, CellAsk, Occurrences, Work
from assay.runner.fan_out import done_cells
from assay.runner.online import cells_of, defaults_of, repeat_salt
from assay.runner.reply_cache import ReplyCache
from assay.spec import LoadedScorer, LoadedSolver
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.calls import reply_tokens
from assay.store.row_address import RowLayout
from assay.store.run_spec import RunSpec
from assay.store.store import Store
from assay.types import CallPurpose, Failure, Reply, Request, Rows, Solution, Trace, Usage

SECONDS_A_CALL = 2.0
"""The assumed duration of a call if no limit determines the rate."""
FLIPS = 0.1
"""The share of samples that is taken to change between two runs, where nothing is known of the second."""
REPLY_TOKENS = {"answer": 250, "judge": 120}
"""The assumed length of a reply if neither max_tokens nor earlier replies determine it."""


class _Tally:
    """Counts the questions to one model for one purpose."""

    def __init__(self) -> None:
        self.calls = 0
        self.cached = 0
        self.tokens_in = 0.0
        self.most_out = 0.0
        self.limited = True


class _Counting:
    """Stands in for a model: counts the question, and answers with what is remembered or with nothing."""

    def __init__(self, connection: Connection, memory: ReplyCache, salt: str = "") -> None:
        self.name = connection.name
        self._prefix = endpoint_prefix(connection.identity, salt)
        self._memory = memory
        self._asked: set[bytes] = set()
        self.tallies: dict[CallPurpose, _Tally] = {}

    async def ask(self, request: Request) -> Reply:
        tally = self.tallies.setdefault(request.purpose, _Tally())
        key = call_key(self._prefix, canonical(request))
        reply = self._memory.get(key)
        if reply is not None:
            tally.cached += 1
            return reply
        if key not in self._asked:
            self._asked.add(key)
            tally.calls += 1
            limit = request.sampling.max_tokens
            tally.tokens_in += estimate_tokens(request) - (limit or 0)
            tally.limited = tally.limited and limit is not None
            tally.most_out += limit or 0
        # a plan asks nobody: the caller goes on as it does after a failed call
        raise CallError(Failure(stage="plan", kind="budget", detail="not asked"))


def estimate_run(plan: Plan, store: Store) -> Estimate:
    """Walk through every cell without calling a model; missing answers are replaced by short stand-ins."""
    before = None if plan.options.fresh else runs.latest_of(store, plan.identity)
    done = [] if before is None else _settled(store, before.rows_of, plan.layout)
    # a run that starts anew sees no earlier reply
    memory = ReplyCache(store, 0, "update" if plan.options.fresh else plan.options.cache_policy)
    try:
        counting = {id(c): _Counting(c, memory, repeat_salt(plan)) for c in plan.connections.values()}
        clients = {key: counting[id(connection)] for key, connection in plan.connections.items()}
        n_cells = run_to_end(_walk(plan, seeded(plan.loaded.scorers, store), clients, done))
    finally:
        memory.close()
    models = [
        _model_plan(connection, counting[id(connection)], purpose, tally, store)
        for connection in {id(c): c for c in plan.connections.values()}.values()
        for purpose, tally in counting[id(connection)].tallies.items()
    ]
    return Estimate(
        task=plan.loaded.task.key,
        n_cells=n_cells,
        n_done=len(done),
        models=tuple(models),
        stale=tuple(stale_reasons(plan, store)),
        reused_from=runs.ids_of(store, memory.runs_used | ({before.rows_of} if before is not None and done else set())),
        precision=precision_of(n_cells // plan.layout.trials),
        notes=tuple(note for scorer in plan.loaded.scorers for note in scorer.settings.plan_notes()),
    )


def _settled(store: Store, run_no: int, layout: RowLayout) -> list[int]:
    """The cells that are done, without those that a run would take up again."""
    retryable = {layout.cell(position) for position in evidence.retryable_positions(store, run_no)}
    return [cell for cell in done_cells(store, run_no, layout) if cell not in retryable]


def precision_of(n_samples: int) -> ExpectedPrecision | None:
    """Return the precision of metrics over this number of samples; None for no samples.

    >>> precision = precision_of(400)
    >>> round(precision.half_width, 3), round(precision.difference, 3)
    (0.049, 0.044)
    """
    from assay.stats.interval import wilson
    from assay.stats.power import detectable, paired_design

    if n_samples < 1:
        return None
    low, high = wilson(n_samples / 2, n_samples)
    difference = detectable(paired_design(FLIPS), n_samples)
    return ExpectedPrecision(n_samples=n_samples, half_width=float(high - low) / 2, difference=difference, flips=FLIPS)


async def _walk(plan: Plan, scorers: Sequence[LoadedScorer], clients: Mapping[str | None, Any], done: Any) -> int:
    work = Work(
        solver=plan.loaded.solver,
        scorers=scorers,
        clients=clients,
        sampling={key: defaults_of(c.sampling) for key, c in plan.connections.items()},
        width=1,
        reads_sample=frozenset(key for key, connection in plan.connections.items() if connection.reads_sample),
    )
    occurrences = Occurrences()
    n_cells = 0
    for cell in cells_of(plan, iter(done)):
        n_cells += 1
        if not cell.done:
            await _ask_once(work, occurrences, cell)
    return n_cells


async def _ask_once(work: Work, occurrences: Occurrences, cell: Cell) -> None:
    """Let the solver and every judge put their first question; an answer that is not known is taken to be empty."""
    ask = CellAsk(work, occurrences, cell)
    rows = Rows(positions=(cell.position,), ids=(cell.sample_id,), samples=(cell.sample,))
    answer, traces = "", rows.traces
    solver = work.solver
    if solver is not None and solver.kind.asks_model:
        try:
            solution = await _solved(solver, rows, ask, cell)
        except CallError:
            solution = _stand_in(cell)
        if isinstance(solution, Failure):
            return
        answer, traces = solution.answer, (solution.trace,)
    elif solver is not None:
        rows, failures = solver.kind.solve(solver.settings, rows)
        if failures:
            return
        answer, traces = rows.answers[0] if rows.answers else "", rows.traces
    judged = Rows(positions=rows.positions, ids=rows.ids, samples=rows.samples, answers=(answer,), traces=traces)
    for scorer in work.scorers:
        if scorer.kind.asks_model:
            try:
                await scorer.kind.score(scorer.settings, judged, ask)
            except CallError:
                continue


async def _solved(solver: LoadedSolver, rows: Rows, ask: CellAsk, cell: Cell) -> Solution | Failure:
    """Run the solver on the cell; user code is not run, and one question of the sample's length replaces it."""
    if not solver.kind.runs_code:
        solution: Solution | Failure = await solver.kind.solve(solver.settings, rows, ask)
        return solution
    await ask(Request(messages=({"type": "message", "role": "user", "content": cell.text},)))
    return _stand_in(cell)


def _stand_in(cell: Cell) -> Solution:
    """Return a unique short answer for a missing one: identical ones would need only one verdict."""
    answer = f"{cell.position}"
    items = tuple({"type": "message", "role": role, "content": answer} for role in ("user", "assistant"))
    return Solution(answer=answer, trace=Trace(items))


def _model_plan(
    connection: Connection, counted: _Counting, purpose: CallPurpose, tally: _Tally, store: Store
) -> ModelEstimate:
    tokens_in = TokenRange(low=tally.tokens_in * 0.75, expected=tally.tokens_in, high=tally.tokens_in * 1.5)
    seen = reply_tokens(store, connection.name, purpose)
    tokens_per_reply = seen if seen is not None else REPLY_TOKENS[purpose]
    expected = tally.calls * tokens_per_reply
    if tally.limited:
        expected = min(expected, tally.most_out)
    high = tally.most_out if tally.limited else expected * 4
    tokens_out = TokenRange(low=min(tally.calls, expected), expected=expected, high=max(high, expected))
    limits = connection.limits
    seconds = tally.calls * SECONDS_A_CALL / limits.concurrent
    if limits.requests_per_minute:
        seconds = max(seconds, tally.calls / limits.requests_per_minute * 60)
    if limits.tokens_per_minute:
        seconds = max(seconds, (tokens_in.expected + tokens_out.expected) / limits.tokens_per_minute * 60)
    return ModelEstimate(
        model=connection.name,
        purpose=purpose,
        calls=tally.calls,
        cached=tally.cached,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=_cost(connection, tokens_in, tokens_out),
        seconds=seconds,
    )


def _cost(
    connection: Connection, tokens_in: TokenRange, tokens_out: TokenRange
) -> tuple[Decimal, Decimal, Decimal] | None:
    prices = connection.prices
    if prices is None:
        return None
    low, expected, high = (
        prices.cost(Usage(prompt_tokens=round(a), completion_tokens=round(b)))
        for a, b in (
            (tokens_in.low, tokens_out.low),
            (tokens_in.expected, tokens_out.expected),
            (tokens_in.high, tokens_out.high),
        )
    )
    return low, expected, high


def stale_reasons(plan: Plan, store: Store) -> list[str]:
    """Describe what has changed since the newest run of the same task."""
    latest = runs.latest_named(store, plan.loaded.task.key, model=plan.model_name)
    if latest is None or runs.latest_of(store, plan.identity) is not None:
        return []
    before, now = latest.spec, plan.spec.as_stored()
    parts: dict[str, Callable[[RunSpec], object]] = {
        "the dataset's content": lambda spec: spec.dataset.sha256,
        "the model": lambda spec: _endpoints(spec, answering=True),
        "the model's sampling": lambda spec: _samplings(spec, answering=True),
        "a judge's model": lambda spec: _endpoints(spec, answering=False),
        "a judge's sampling": lambda spec: _samplings(spec, answering=False),
        "the config": lambda spec: spec.config,
        "the solver": lambda spec: spec.definition.get("solver"),
        "the scorers": lambda spec: spec.definition.get("scorers"),
        "the files of the scorers": lambda spec: [scorer.content for scorer in spec.scorers],
        "the code of the scorers": lambda spec: [scorer.code for scorer in spec.scorers],
        "the trials": lambda spec: spec.trials,
        "the limit": lambda spec: spec.limit,
        "the seed": lambda spec: spec.seed,
        "assay itself": lambda spec: spec.provenance.assay,
    }
    return [f"{name} changed since run {latest.id}" for name, part in parts.items() if part(before) != part(now)]


def _endpoints(spec: RunSpec, *, answering: bool) -> dict[str, object]:
    return {key: model.identity for key, model in spec.models.items() if (key == "") == answering}


def _samplings(spec: RunSpec, *, answering: bool) -> dict[str, object]:
    return {key: model.sampling for key, model in spec.models.items() if (key == "") == answering}
