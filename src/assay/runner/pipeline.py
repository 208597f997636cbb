"""Call a model about every sample: many at once, committed promptly, nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.models import logs
from assay.models.client import CallError
from assay.runner.budget import BudgetReached
from assay.runner.cell import Answered, Cell, CellAsk, CountedOnly, Occurrences, Work, solved_batch
from assay.runner.fan_out import FANNED, fanned_cell
from assay.runner.reply_cache import ReplyCache
from assay.runner.scoring import ScoreRows, Solved, score_batch
from assay.runner.writer import GROUP_ROWS, GroupCommit, RunWriter
from assay.spec import LoadedScorer
from assay.types import Failure, Fanned, Outcome, PaidCall, Rows, Solution


class Engine:
    """Runs cells through solver and judges, a bounded number at a time, and commits them in groups."""

    def __init__(
        self, work: Work, memory: ReplyCache, writer: RunWriter, *, done: int = 0, score: ScoreRows | None = None
    ) -> None:
        self._work = work
        self._score_rows = score
        self._memory = memory
        self._writer = writer
        self._occurrences = Occurrences()
        self._finished: list[Answered] = []
        self._groups = GroupCommit(self._commit)
        self._judges = {slot: s for slot, s in enumerate(work.scorers, start=1) if s.kind.asks_model}
        self.done = done
        self.failed = 0
        self.cached = 0
        self.out_of_budget = False

    async def run(self, cells: Iterator[Cell]) -> None:
        """Finish every cell, or raise the error that stopped the run; answers are committed in both cases."""
        # the workers share one iterator: a sample is read only when somebody is free to answer it
        workers = [asyncio.create_task(self._worker(cells)) for _ in range(self._work.width)]
        committing = asyncio.create_task(self._groups.run())
        try:
            await _all_done(workers, or_raised=committing)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            self._groups.close()
            # a commit that has begun is finished, whatever stops the run
            await committing

    async def _worker(self, cells: Iterator[Cell]) -> None:
        for cell in cells:
            if self.out_of_budget:
                return
            try:
                answered = await self._answer(cell)
            except BudgetReached:
                self.out_of_budget = True
                return
            self._finished += answered
            if len(self._finished) >= GROUP_ROWS:
                await self._groups.push()

    async def _answer(self, cell: Cell) -> list[Answered]:
        """The cell with its answer and verdicts; nothing when it was done before and only had to be counted."""
        if logs.is_on():
            logs.bind(sample=cell.sample_id, trial=cell.trial)
        ask = CellAsk(self._work, self._occurrences, cell)
        answered = Answered(cell, ask.calls)
        rows = Rows(positions=(cell.position,), ids=(cell.sample_id,), samples=(cell.sample,))
        try:
            solved = await self._solved(rows, ask)
            if self._work.solver is not None and self._work.solver.fan_out is not None:
                rows_of_it = await self._fanned(answered, solved, ask)
                return [] if cell.done else rows_of_it
            if isinstance(solved, Failure):
                answered.failure = solved
            else:
                await self._score(answered, solved, ask)
        except CountedOnly:
            return []
        return [] if cell.done else [answered]

    async def _fanned(self, answered: Answered, solved: Rows | Failure, ask: CellAsk) -> list[Answered]:
        """Return the rows that the postprocessor makes of an answer, each with its own verdicts."""
        solver = self._work.solver
        assert solver is not None
        assert solver.fan_out is not None
        fanned: Sequence[Fanned] | Failure
        fanned = solved if isinstance(solved, Failure) else (await asyncio.to_thread(solver.fan_out, solved))[0]
        if isinstance(fanned, Failure):
            cell = replace(answered.cell, position=FANNED.first_position(answered.cell.position))
            return [Answered(cell, answered.calls, failure=fanned)]
        rows = fanned_cell(answered, fanned)
        await asyncio.gather(*(self._score(row, _row_of(row), ask) for row in rows))
        return rows

    async def _score(self, answered: Answered, solved: Rows, ask: CellAsk) -> None:
        """Note the answer, and ask the judges about it."""
        if solved.answers is not None:
            answered.answer = solved.answers[0]
        if solved.traces is not None:
            answered.trace = solved.traces[0]
        if self._judges:
            verdicts = await asyncio.gather(*(_judged(scorer, solved, ask) for scorer in self._judges.values()))
            answered.judged = dict(zip(self._judges, verdicts, strict=True))

    async def _solved(self, rows: Rows, ask: CellAsk) -> Rows | Failure:
        """Return the row with its answer, newly requested or recorded."""
        solver = self._work.solver
        if solver is None:
            return rows
        if not solver.kind.asks_model:
            recorded: Rows
            failures: dict[int, Failure]
            recorded, failures = solver.kind.solve(solver.settings, rows)
            return failures[0] if failures else recorded
        try:
            solution: Solution | Failure = await solver.kind.solve(solver.settings, rows, ask)
        except CallError as error:
            return error.failure
        if isinstance(solution, Failure):
            return solution
        return Rows(
            positions=rows.positions,
            ids=rows.ids,
            samples=rows.samples,
            answers=(solution.answer,),
            traces=(solution.trace,),
        )

    async def _commit(self) -> None:
        """Score and commit what is finished; only then does it count as done."""
        # both are taken before the first await: an answer and the replies it cost must not come into different groups
        group, self._finished = self._finished, []
        paid = self._memory.hand_over()
        if not group and not paid:
            return
        # replies come in any order; rows that are inserted in the order of their keys touch fewer pages
        group.sort(key=lambda answered: answered.cell.position)
        batch = solved_batch(group, list(self._judges), has_solver=self._work.solver is not None)
        done = self.done + sum(1 for a in group if a.first)
        # in a thread: scorers and the disk would stop the event loop, and every request with it
        self.failed += await asyncio.to_thread(self._score_and_write, batch, done, paid)
        self._memory.committed()
        self.done = done
        self.cached += sum(1 for a in group if a.first and a.calls and all(call.cached for call in a.calls))

    def _score_and_write(self, batch: Solved, cursor: int, paid: Sequence[PaidCall]) -> int:
        return self._writer.write(
            batch, score_batch(self._work.scorers, batch, self._score_rows), cursor=cursor, paid=paid
        )


def _row_of(answered: Answered) -> Rows:
    cell = answered.cell
    return Rows(
        positions=(cell.position,),
        ids=(cell.sample_id,),
        samples=(cell.sample,),
        answers=(answered.answer or "",),
        traces=(answered.trace,),
    )


async def _judged(scorer: LoadedScorer, rows: Rows, ask: CellAsk) -> Outcome:
    try:
        outcome: Outcome = await scorer.kind.score(scorer.settings, rows, ask)
    except CallError as error:
        return replace(error.failure, stage="score")
    return outcome


async def _all_done(workers: Sequence[asyncio.Task[None]], *, or_raised: asyncio.Task[None]) -> None:
    """Wait for all workers, but no longer than until one of the tasks raises."""
    pending: set[asyncio.Task[None]] = {*workers, or_raised}
    while pending - {or_raised}:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
