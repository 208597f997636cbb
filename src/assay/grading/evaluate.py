"""Whole datasets through a panel, as a task of the rubric scorer: no vote is paid for twice."""

from __future__ import annotations

import asyncio
import warnings
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, cast

from assay.builtin import registry
from assay.errors import RunError, SpecError
from assay.grading.config import EXPERIMENTS, EvalConfig, ProgressStyle
from assay.grading.dataset import RubricDataset
from assay.grading.experiments import StoredExperiment
from assay.grading.grader import CriterionGrader, Grader
from assay.grading.items import DataItem, Truth
from assay.grading.judge_models import classify_grading_error, connected, here
from assay.grading.progress import EvalProgressDisplay
from assay.grading.results import EvalResult, EvalTimingStats, ItemResult, counted
from assay.grading.scorer import SubmissionScorer
from assay.judging.aggregation import RubricWarning
from assay.judging.criteria import CriterionVerdict
from assay.judging.reports import (
    EnsembleCriterionReport,
    EvaluationReport,
    aggregate_completion_cost,
    aggregate_token_usage,
)
from assay.models.event_loop import run_to_end
from assay.prepare.plan import Options, Plan, prepare_loaded
from assay.prepare.seeds import seeded
from assay.results.estimate import Estimate
from assay.runner.estimate import estimate_run
from assay.runner.progress import Listener, silent
from assay.runner.session import run_task
from assay.spec.arguments import arguments_checked, keywords_named
from assay.spec.in_memory import task_in_memory
from assay.store import runs
from assay.store.store import default_location, open_for_planning, open_store


@keywords_named
class EvalRunner:
    """Grades a dataset; running it again goes on where it stopped and asks only what is missing.

    The runs of an audit are steps of it, which nobody is to find as the latest.
    """

    def __init__(
        self,
        dataset: RubricDataset,
        grader: Grader[Any],
        config: EvalConfig | None = None,
        *,
        listener: Listener = silent,
        kind: Literal["grade", "audit"] = "grade",
    ) -> None:
        if not len(dataset):
            raise SpecError("the dataset has no items")
        self._dataset = dataset
        self._any_grader = grader
        self._config = config or EvalConfig()
        self._kind = kind
        self._display: EvalProgressDisplay | None = None
        if self._config.show_progress and listener is silent:
            judge_ids = grader.judge_ids if isinstance(grader, CriterionGrader) else None
            self._display = EvalProgressDisplay(len(dataset), self._config.progress_style, judge_ids)
            listener = self._display.listen
        self._listener = listener
        if isinstance(grader, CriterionGrader):
            self._grader = grader
            self._settings = grader.settings.for_dataset(dataset)
            grader.check_rubrics(self._settings.rubrics)

    async def run(self) -> EvalResult:
        """Grade every item that is not graded yet."""
        if not isinstance(self._any_grader, CriterionGrader):
            return await self._run_own()
        return await asyncio.to_thread(self.run_sync)

    def run_sync(self) -> EvalResult:
        """Grade every item that is not graded yet, and wait for the result; works inside a running event loop too."""
        if not isinstance(self._any_grader, CriterionGrader):
            return run_to_end(self._run_own())
        location = self._location()
        store = open_store(location)
        try:
            plan = self._prepared()
            with self._display or nullcontext():
                report = run_task(plan, store, listener=self._listener)
            (scorer,) = seeded(plan.loaded.scorers, store)
            settings = cast("SubmissionScorer", scorer.settings)
            stored = StoredExperiment(store, runs.find(store, report.run), report, settings, self._dataset)
            result = stored.result(location, Path(self._config.experiments_dir))
        finally:
            store.close()
        if self._config.fail_fast and result.errors:
            index, reason = result.errors[0]
            raise RunError(f"item {index} failed: {reason}")
        return result

    def _location(self) -> str:
        return self._config.location(default_location(here()))

    async def _run_own(self) -> EvalResult:
        """Grade with a user-defined grader; it makes its own calls, and nothing is stored."""
        limit = asyncio.Semaphore(self._config.max_concurrent_items or 100)
        started, clock = datetime.now(UTC), perf_counter()

        async def graded(index: int, item: DataItem) -> ItemResult:
            rubric = self._dataset.get_item_rubric(index)
            prompt = self._dataset.get_item_prompt(index)
            reference = self._dataset.get_item_reference_submission(index)
            async with limit:
                begun = perf_counter()
                try:
                    report = await rubric.grade(item.submission, self._any_grader, prompt, reference)
                except Exception as error:
                    if self._config.fail_fast:
                        raise
                    reason = f"{classify_grading_error(error)}: {error}"
                    report = EvaluationReport(score=None, error=reason)
            return ItemResult(index, item, report, perf_counter() - begun, report.error)

        with self._display or nullcontext():
            results = await asyncio.gather(*(graded(index, item) for index, item in enumerate(self._dataset)))
        reports = [result.report for result in results]
        return EvalResult(
            **counted(results),
            total_token_usage=aggregate_token_usage([report.token_usage for report in reports]),
            total_completion_cost=aggregate_completion_cost([report.completion_cost for report in reports]),
            timing_stats=EvalTimingStats.from_durations(
                [result.duration_seconds for result in results], perf_counter() - clock
            ),
            started_at=started,
            completed_at=datetime.now(UTC),
            experiment_name=self._config.experiment_name,
        )

    def plan_sync(self) -> Estimate:
        """Estimate the calls and cost of grading without asking anyone."""
        store = open_for_planning(self._location())
        try:
            return estimate_run(self._prepared(planned=True), store)
        finally:
            store.close()

    def _prepared(self, *, planned: bool = False) -> Plan:
        """The dataset as a task in memory, prepared like one from a file; a plan needs no keys."""
        kinds = registry()
        settings = self._settings
        name = self._config.experiment_name or self._dataset.name or "rubric"
        task = task_in_memory(name, _rows(self._dataset), settings, settings.definition(), kinds, root=here())
        options = Options(
            kind=self._kind,
            fresh=self._config.fresh or not self._config.resume,
            max_concurrency=self._config.max_concurrency or self._config.max_concurrent_items,
            max_cost=self._config.max_cost,
            name=self._config.name,
            tags=self._config.tags,
        )
        return prepare_loaded(
            task, kinds, options, connections=connected(self._grader.clients.endpoints, planned=planned)
        )


@arguments_checked({})
async def evaluate(
    dataset: RubricDataset,
    grader: Grader[Any],
    *,
    fail_fast: bool = False,
    show_progress: bool = True,
    progress_style: ProgressStyle = "simple",
    max_concurrent_items: int | None = None,
    experiment_name: str | None = None,
    experiments_dir: Path | str = EXPERIMENTS,
    resume: bool = True,
    config: EvalConfig | None = None,
    store: str | None = None,
    listener: Listener = silent,
) -> EvalResult:
    """Grade a dataset; what was graded before is taken from the store.

    Changing a criterion's text asks again about that criterion only; changing a weight, a value or an aggregation
    asks nobody. A `config` takes the place of all other settings.
    """
    settings = config or EvalConfig(
        fail_fast=fail_fast,
        show_progress=show_progress,
        progress_style=progress_style,
        max_concurrent_items=max_concurrent_items,
        experiment_name=experiment_name,
        experiments_dir=experiments_dir,
        resume=resume,
        store=store,
    )
    return await EvalRunner(dataset, grader, settings, listener=listener).run()


@arguments_checked({})
def evaluate_sync(
    dataset: RubricDataset,
    grader: Grader[Any],
    *,
    config: EvalConfig | None = None,
    experiment_name: str | None = None,
    store: str | None = None,
    listener: Listener = silent,
) -> EvalResult:
    """Grade a dataset and wait for the result; works inside a running event loop too."""
    settings = config or EvalConfig(show_progress=False, experiment_name=experiment_name, store=store)
    return EvalRunner(dataset, grader, settings, listener=listener).run_sync()


async def fill_ground_truth(
    dataset: RubricDataset,
    grader: Grader[Any],
    *,
    force: bool = False,
    show_progress: bool = True,
    max_concurrent_items: int | None = None,
) -> RubricDataset:
    """Return a copy of a dataset in which a panel's verdicts are the ground truth of unlabelled items.

    `force` replaces the ground truth of all items. Items that could not be graded are left out, with a warning.
    """
    indices = [index for index, item in enumerate(dataset) if force or item.ground_truth is None]
    truths: dict[int, list[Truth]] = {}
    if indices:
        config = EvalConfig(show_progress=show_progress, max_concurrent_items=max_concurrent_items)
        asked = replace(dataset, items=[replace(dataset[index], ground_truth=None) for index in indices])
        result = await EvalRunner(asked, grader, config).run()
        for index, item_result in zip(indices, result.item_results, strict=True):
            if item_result.graded is not None and item_result.graded.error is None:
                truths[index] = [_truth(report) for report in item_result.graded.criteria]
    lost = len(indices) - len(truths)
    if lost:
        warnings.warn(f"{lost:,} items could not be graded and are left out", RubricWarning, stacklevel=2)
    items = [
        replace(item, ground_truth=truths[index]) if index in truths else item
        for index, item in enumerate(dataset)
        if index in truths or index not in indices
    ]
    return replace(dataset, items=items)


def _truth(report: EnsembleCriterionReport) -> Truth:
    """Return a panel's verdict as a ground truth; an added abstaining option is not part of the rubric."""
    if report.final_verdict is not None:
        return report.final_verdict
    return CriterionVerdict.CANNOT_ASSESS if report.is_na or report.label is None else report.label


def _rows(dataset: RubricDataset) -> list[dict[str, Any]]:
    """Return the items as samples of the run; unique descriptions become their ids."""
    rows = [_row(dataset, index) for index in range(len(dataset))]
    names = [row["description"] for row in rows]
    if all(names) and len(set(names)) == len(names):
        return [{"sample_id": name, **row} for name, row in zip(names, rows, strict=True)]
    return rows


def _row(dataset: RubricDataset, index: int) -> dict[str, Any]:
    """An item as a sample of the run."""
    item = dataset[index]
    row: dict[str, Any] = {
        "item": index,
        "submission": item.submission,
        "description": item.description,
        "prompt": dataset.get_item_prompt(index),
        "reference_submission": dataset.get_item_reference_submission(index),
        "rubric": None if item.rubric is None else item.rubric.to_dict(),
        "ground_truth": None if item.ground_truth is None else list(map(str, item.ground_truth)),
    }
    return {name: value for name, value in row.items() if value is not None}
