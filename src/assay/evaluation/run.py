"""Evaluations: many specifications, each after what it reads, side by side where they share no model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from assay.analysis.gate import RuleChecker
from assay.errors import AssayError, Interrupted, SpecError
from assay.evaluation.policy import verdicts, verdicts_of
from assay.evaluation.repeatability import repeatability
from assay.evaluation.specifications import Prepared, SpecificationStep, plan_again, prepare_step
from assay.interop.import_files import ImportOptions, import_file
from assay.models.event_loop import run_to_end
from assay.prepare.plan import Plan
from assay.prepare.result_datasets import result_dataset
from assay.results.costs import merged
from assay.results.evaluation import EvaluationRunReport, SpecificationReport
from assay.results.rules import FailureRule
from assay.results.run import RunReport
from assay.runner.budget import SpendingLimit
from assay.runner.online import count_cells
from assay.runner.progress import Listener, Progress
from assay.runner.session import arun_task, how_to_go_on, run_task
from assay.spec import LoadedDataset
from assay.store import runs
from assay.store.store import Store
from assay.summary.finish import stored_report


@dataclass(slots=True)
class _Outcome:
    """The current state of one step."""

    reports: list[RunReport] = field(default_factory=list)
    error: str | None = None


class Evaluating:
    """Runs the steps of an evaluation; one that fails leaves the others alone."""

    def __init__(
        self,
        prepared: Prepared,
        store: Store,
        listener: Listener,
        failures: FailureRule | None = None,
        *,
        is_whole: bool = True,
    ) -> None:
        self._is_whole = is_whole
        self._prepared = prepared
        self._store = store
        self._listener = _Together(listener)
        self._outcomes = {step.key: _Outcome() for step in prepared.steps}
        self._checker = RuleChecker(failures or FailureRule(), store=store)

    def run(self) -> EvaluationRunReport:
        """Run every specification, and judge the policies over all of them."""
        for wave in _waves(self._prepared.steps):
            ready = [(step, plan) for step in wave if (plan := self._planned(step)) is not None]
            for step, plan in ready:
                if not plan.is_live:
                    self._score(step, plan)
            live = [(step, plan) for step, plan in ready if plan.is_live]
            if live:
                try:
                    run_to_end(self._answer(live))
                except KeyboardInterrupt as stop:
                    words = f"stopped: all answers are kept; {how_to_go_on(self._prepared.options)}"
                    raise Interrupted(words) from stop
        return self._report()

    def _planned(self, step: SpecificationStep) -> Plan | None:
        """The plan of a step that can start now; None, with the reason noted, when it cannot."""
        if step.log is not None:
            self._import(step, step.log)
            return None
        if step.plan is not None:
            return step.plan
        assert step.after is not None
        before = self._outcomes[step.after]
        if not before.reports or before.error is not None:
            self._outcomes[step.key].error = f'not started: "{step.after}" has no result'
            return None

        def result(key: str) -> LoadedDataset:
            return result_dataset(key, self._store, runs.find(self._store, before.reports[0].run))

        try:
            return prepare_step(step, self._prepared, result)
        except SpecError as error:
            self._outcomes[step.key].error = str(error)
            return None

    def _import(self, step: SpecificationStep, log: Path) -> None:
        """Import the result of a step from its log file."""
        outcome = self._outcomes[step.key]
        try:
            options = ImportOptions(task=step.loaded.task.key, name=step.options.name, tags=step.options.tags)
            imported = import_file(self._store, log, options)
            report = imported.report or stored_report(self._store, runs.find(self._store, imported.run))
            outcome.reports.append(report)
        except AssayError as error:
            outcome.error = str(error)

    def _score(self, step: SpecificationStep, plan: Plan) -> None:
        """Score recorded answers."""
        outcome = self._outcomes[step.key]
        try:
            outcome.reports.append(run_task(plan, self._store, listener=self._listener.of(step.key)))
        except Interrupted:
            raise
        except AssayError as error:
            outcome.error = str(error)

    async def _answer(self, live: Sequence[tuple[SpecificationStep, Plan]]) -> None:
        """Call the models: specifications that share one run in sequence, so that its limits hold."""
        limit = self._prepared.options.max_cost
        purse = None if limit is None else SpendingLimit(limit)
        counts = await asyncio.to_thread(lambda: [len(step.repeats) * count_cells(plan) for step, plan in live])
        self._listener.expect(sum(counts))
        await asyncio.gather(*(self._chain(chain, purse) for chain in chains(live)))

    async def _chain(self, chain: Sequence[tuple[SpecificationStep, Plan]], purse: SpendingLimit | None) -> None:
        for step, plan in chain:
            outcome = self._outcomes[step.key]
            for repeat in step.repeats:
                repeated = plan_again(plan, repeat)
                part = f"{step.key}/{repeat}"
                try:
                    listener = self._listener.of(part)
                    outcome.reports.append(
                        await arun_task(repeated, self._store, listener=listener, spending_limit=purse)
                    )
                except AssayError as error:
                    outcome.error = str(error)
                    break
                finally:
                    self._listener.over(part)

    def _report(self) -> EvaluationRunReport:
        run = self._prepared.run
        assert run.evaluation is not None
        key = run.evaluation.key
        reports = {
            step.key: self._outcomes[step.key].reports[0]
            for step in self._prepared.steps
            if step.repeats_of is None and self._outcomes[step.key].reports
        }
        order = {specification.key: place for place, specification in enumerate(run.specifications)}
        steps = sorted(self._prepared.steps, key=lambda step: order.get(step.specification.key, 0))
        return EvaluationRunReport(
            key=key,
            display_name=run.evaluation.display_name,
            specifications=tuple(self._specification(step, key, reports) for step in steps),
            # a policy over all results cannot be judged by some of them
            policies=verdicts(run.policies, key, reports, self._checker) if self._is_whole else (),
            failures=self._checker.failures,
        )

    def _specification(
        self, step: SpecificationStep, evaluation: str, reports: dict[str, RunReport]
    ) -> SpecificationReport:
        outcome = self._outcomes[step.key]
        run_reports = list(outcome.reports)
        if step.repeats_of is not None and step.repeats_of in reports:
            run_reports = [reports[step.repeats_of], *run_reports]
        report = run_reports[0] if run_reports else None
        return SpecificationReport(
            key=step.key,
            task=step.loaded.task.key,
            model=report.model if report is not None else str(step.options.model) if step.options.model else None,
            report=report,
            error=outcome.error,
            policies=()
            if report is None
            else verdicts_of(
                self._prepared.run.policies, evaluation, step.repeats_of or step.key, report, self._checker
            ),
            repeatability=repeatability(self._store, run_reports) if step.runs > 1 and len(run_reports) > 1 else None,
            repeats=step.repeats_of,
            spending=merged(spent for report in outcome.reports for spent in report.spending),
            spending_of_all_runs=merged(spent for report in run_reports for spent in report.spending),
        )


def _waves(steps: Sequence[SpecificationStep]) -> Iterator[list[SpecificationStep]]:
    """Steps in groups: each group reads only results of the groups before it."""
    depth: dict[str, int] = {}
    for step in steps:
        depth[step.key] = 0 if step.after is None else depth[step.after] + 1
    for level in range(max(depth.values(), default=-1) + 1):
        yield [step for step in steps if depth[step.key] == level]


def chains(live: Sequence[tuple[SpecificationStep, Plan]]) -> list[list[tuple[SpecificationStep, Plan]]]:
    """Groups that share no model; within a group one comes after the other, in the order of the file."""
    groups: list[tuple[set[str], list[tuple[SpecificationStep, Plan]]]] = []
    for entry in live:
        models = {str(connection.identity) for connection in entry[1].connections.values()}
        touched = [group for group in groups if group[0] & models]
        for group in touched:
            groups.remove(group)
            models |= group[0]
        groups.append((models, [*(member for group in touched for member in group[1]), entry]))
    return [group for _, group in groups]


class _Together:
    """The progress of several runs as one."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._parts: dict[str, Progress] = {}
        self._total: int | None = None

    def expect(self, n: int) -> None:
        """Add to the expected total amount of work."""
        self._total = n + sum(part.done for part in self._parts.values())

    def over(self, key: str) -> None:
        """One of the runs is over: nothing of it is in flight any more."""
        if key in self._parts:
            self._parts[key] = replace(self._parts[key], in_flight=0, waiting="")

    def of(self, key: str) -> Listener:
        """A listener for one of the runs."""

        def heard(progress: Progress) -> None:
            self._parts[key] = progress
            self._listener(self._sum())

        return heard

    def _sum(self) -> Progress:
        parts = list(self._parts.values())
        costs = [part.cost_usd for part in parts if part.cost_usd is not None]
        return Progress(
            done=sum(part.done for part in parts),
            failed=sum(part.failed for part in parts),
            resumed=sum(part.resumed for part in parts),
            total=self._total,
            cached=sum(part.cached for part in parts),
            in_flight=sum(part.in_flight or 0 for part in parts),
            cost_usd=sum(costs, Decimal(0)) if costs else None,
            waiting=next((part.waiting for part in parts if part.waiting), ""),
        )
