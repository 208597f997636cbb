"""Asking a model about every sample: many at once, each committed soon, nothing lost on the way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from assay.engine.memory import RunMemory
from assay.engine.record import Recorder, Solved
from assay.model.client import CallError, Client
from assay.model.key import canonical
from assay.spec import LoadedScorer, LoadedSolver
from assay.types import Failure, Outcome, Reply, Request, Rows, Solution, Trace

GROUP_ROWS = 500
GROUP_S = 0.05
_NOBODY = Trace(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One sample of one trial, waiting for its answer."""

    position: int
    trial: int
    sample_id: str
    sample: Mapping[str, Any]
    text: str
    done: bool = False


@dataclass(slots=True)
class Answered:
    """A cell with all that came of it."""

    cell: Cell
    calls: list[tuple[bytes, bool]]
    answer: str = ""
    trace: Trace = _NOBODY
    failure: Failure | None = None
    judged: dict[int, Outcome] = field(default_factory=dict)


class BudgetReached(Exception):
    """The next call could pass the spending limit: no more calls are started."""


class _Counted(Exception):
    """Ends a solver after its first question when that is all we want to know."""


class Occurrences:
    """Numbers identical questions in the order of the samples, so that each random answer has a key of its own."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def number(self, request: Request) -> int:
        digest = hash(canonical(request))
        n = self._seen.get(digest, 0)
        self._seen[digest] = n + 1
        return n


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the engine needs to know: the task's parts, the models by key, and how wide to go."""

    solver: LoadedSolver
    scorers: Sequence[LoadedScorer]
    models: Mapping[str | None, Client]
    width: int


class Engine:
    """Runs cells through solver and judges, a bounded number at a time, and commits them in groups."""

    def __init__(self, work: Work, memory: RunMemory, recorder: Recorder) -> None:
        self._work = work
        self._memory = memory
        self._recorder = recorder
        self._occurrences = Occurrences()
        self._finished: list[Answered] = []
        self._full = asyncio.Event()
        self._judges = [(n, s) for n, s in enumerate(work.scorers, start=1) if s.kind.live]
        self.done = 0
        self.failed = 0
        self.cached = 0
        self.out_of_budget = False

    async def run(self, cells: Iterator[Cell]) -> None:
        """Finish every cell, or raise what stopped the run; what was answered is committed either way."""
        workers = [asyncio.create_task(self._worker(cells)) for _ in range(self._work.width)]
        committing = asyncio.create_task(self._commit_in_groups())
        try:
            await _first_error(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            committing.cancel()
            await asyncio.gather(committing, return_exceptions=True)
            await self._commit()

    async def _worker(self, cells: Iterator[Cell]) -> None:
        for cell in cells:
            if self.out_of_budget:
                return
            try:
                answered = await self._answer(cell)
            except BudgetReached:
                self.out_of_budget = True
                return
            if answered is None:
                continue
            self._finished.append(answered)
            if len(self._finished) >= GROUP_ROWS:
                self._full.set()

    async def _answer(self, cell: Cell) -> Answered | None:
        rows = Rows(positions=(cell.position,), ids=(cell.sample_id,), samples=(cell.sample,))
        ask = _SampleAsk(self._work.models, self._occurrences, cell)
        solver = self._work.solver
        answered = Answered(cell, ask.calls)
        try:
            solution: Solution | Failure = await solver.kind.function(solver.settings, rows, ask)
        except _Counted:
            return None
        except CallError as error:
            solution = error.failure
        if isinstance(solution, Failure):
            answered.failure = solution
            return answered
        answered.answer, answered.trace = solution.answer, solution.trace
        if self._judges:
            seen = replace(rows, answers=(solution.answer,), traces=(solution.trace,))
            verdicts = await asyncio.gather(*(_judged(scorer, seen, ask) for _, scorer in self._judges))
            answered.judged = {slot: verdict for (slot, _), verdict in zip(self._judges, verdicts, strict=True)}
        return answered

    async def _commit_in_groups(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), GROUP_S)
            await asyncio.shield(self._commit())

    async def _commit(self) -> None:
        """Commit what is finished; only then does it count as done."""
        self._full.clear()
        group, self._finished = self._finished, []
        paid = self._memory.hand_over()
        if not group and not paid:
            return
        group.sort(key=lambda answered: answered.cell.position)
        self.failed += await asyncio.to_thread(
            self._recorder.record, _solved(group, self._judges), cursor=self.done + len(group), paid=paid
        )
        self._memory.committed()
        self.done += len(group)
        self.cached += sum(1 for a in group if a.calls and all(cached for _, cached in a.calls))


class _SampleAsk:
    """How one sample reaches the models: adds its trial and occurrence, and notes the calls it used."""

    def __init__(self, models: Mapping[str | None, Client], occurrences: Occurrences, cell: Cell) -> None:
        self._models = models
        self._occurrences = occurrences
        self._cell = cell
        self._occurrence: int | None = None
        self.calls: list[tuple[bytes, bool]] = []

    async def __call__(self, request: Request, model: str | None = None) -> Reply:
        if self._occurrence is None:
            self._occurrence = self._occurrences.number(replace(request, repeat=self._cell.trial))
        if self._cell.done:
            raise _Counted
        numbered = replace(request, repeat=request.repeat or self._cell.trial, occurrence=self._occurrence)
        reply = await self._models[model].ask(numbered)
        self.calls.append((reply.key, reply.cached))
        return reply


async def _judged(scorer: LoadedScorer, rows: Rows, ask: _SampleAsk) -> Outcome:
    try:
        outcome: Outcome = await scorer.kind.function(scorer.settings, rows, ask)
    except CallError as error:
        return replace(error.failure, stage="score")
    return outcome


async def _first_error(workers: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all workers, but no longer than until one of them raises."""
    done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    for worker in done:
        worker.result()


def _solved(group: Sequence[Answered], judges: Sequence[tuple[int, LoadedScorer]]) -> Solved:
    cells = [answered.cell for answered in group]
    nothing = Failure(stage="score", kind="abstained", detail="no answer to judge")
    return Solved(
        rows=Rows(
            positions=[cell.position for cell in cells],
            ids=[cell.sample_id for cell in cells],
            samples=[cell.sample for cell in cells],
            answers=[answered.answer for answered in group],
            traces=[answered.trace for answered in group],
        ),
        inputs=[cell.text for cell in cells],
        trials=[cell.trial for cell in cells],
        calls=[_calls_text(answered.calls) for answered in group],
        failures={place: a.failure for place, a in enumerate(group) if a.failure is not None},
        judged={slot: [answered.judged.get(slot, nothing) for answered in group] for slot, _ in judges},
    )


def _calls_text(calls: Sequence[tuple[bytes, bool]]) -> str | None:
    if not calls:
        return None
    return orjson.dumps([{"key": key.hex(), "cached": cached} for key, cached in calls]).decode()
