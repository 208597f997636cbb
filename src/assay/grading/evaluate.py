"""Whole datasets through a panel, as a task of the rubric scorer: no vote is paid for twice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any, Literal, cast

from assay.builtin import registry
from assay.errors import SpecError
from assay.grading.config import EvalConfig
from assay.grading.dataset import RubricDataset
from assay.grading.grader import CriterionGrader
from assay.grading.judge_models import connected, here
from assay.grading.results import EvalResult, ItemResult
from assay.grading.scorer import SubmissionScorer
from assay.judging.judge_failures import count_votes, missing_notes
from assay.judging.length import words_in
from assay.judging.outcome import report_from
from assay.judging.reports import mean_of
from assay.judging.total import LOW_COVERAGE
from assay.prepare.plan import Options, Plan, prepare_loaded
from assay.prepare.seeds import seeded
from assay.results.estimate import Estimate
from assay.results.run import RunReport
from assay.runner.estimate import estimate_run
from assay.runner.progress import Listener, Progress, silent
from assay.runner.session import run_task
from assay.spec.arguments import arguments_checked, keywords_named
from assay.spec.in_memory import task_in_memory
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.store import Store, default_location, open_for_planning, open_store


@keywords_named
class EvalRunner:
    """Grades a dataset; running it again goes on where it stopped and asks only what is missing.

    The runs of an audit are steps of it, which nobody is to find as the latest.
    """

    def __init__(
        self,
        dataset: RubricDataset,
        grader: CriterionGrader,
        config: EvalConfig | None = None,
        *,
        listener: Listener = silent,
        kind: Literal["grade", "audit"] = "grade",
    ) -> None:
        if not len(dataset):
            raise SpecError("the dataset has no items")
        self._dataset = dataset
        self._grader = grader
        self._config = config or EvalConfig()
        self._kind = kind
        self._listener = _told if self._config.show_progress and listener is silent else listener
        self._settings = grader.settings.for_dataset(dataset)
        grader.check_rubrics(self._settings.rubrics)

    async def run(self) -> EvalResult:
        """Grade every item that is not graded yet."""
        return await asyncio.to_thread(self.run_sync)

    def run_sync(self) -> EvalResult:
        """Grade every item that is not graded yet, and wait for the result; works inside a running event loop too."""
        location = self._config.store or default_location(here())
        store = open_store(location)
        try:
            plan = self._prepared()
            report = run_task(plan, store, listener=self._listener)
            (scorer,) = seeded(plan.loaded.scorers, store)
            return self._result(store, report, cast("SubmissionScorer", scorer.settings), location)
        finally:
            store.close()

    def plan_sync(self) -> Estimate:
        """What grading would ask and cost; asks nobody."""
        store = open_for_planning(self._config.store or default_location(here()))
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
            fresh=self._config.fresh,
            max_concurrency=self._config.max_concurrency,
            max_cost=self._config.max_cost,
            name=self._config.name,
            tags=self._config.tags,
        )
        return prepare_loaded(
            task, kinds, options, connections=connected(self._grader.clients.endpoints, planned=planned)
        )

    def _result(self, store: Store, report: RunReport, settings: SubmissionScorer, location: str) -> EvalResult:
        record = runs.find(store, report.run)
        results = tuple(self._item(sample, settings) for sample in read_samples(store, record))
        graded = [each for result in results if result.report is not None for each in result.report.report]
        counts = count_votes(vote for each in graded for vote in each.votes)
        return EvalResult(
            run=report.run,
            item_results=results,
            total_token_usage=report.usage,
            total_completion_cost=report.cost_usd,
            n_cached=report.n_cached,
            reused_from=report.reused_from,
            n_ties=sum(each.by_tie for each in graded),
            n_verdicts=len(graded),
            n_order_sensitive=sum(each.order_sensitive for each in graded),
            mean_score=next(iter(report.scorers[0].metrics[0].result.values.values())),
            mean_continuous=mean_of([each.report.continuous_score for each in results if each.report is not None]),
            judge_failures={judge: (count.missing, count.asked) for judge, count in counts.items()},
            missing_votes={judge: dict(count.kinds) for judge, count in counts.items() if count.missing},
            warnings=(*missing_notes(counts), *_thin(results)),
            spending=report.spending,
            status=report.status,
            store=location,
            config=settings.config,
        )

    def _item(self, sample: Sample, settings: SubmissionScorer) -> ItemResult:
        index = sample.position
        item = self._dataset[index]
        if "rubric" not in sample.scores:
            failure = next(iter(sample.failures.values()), None)
            reason = "it was not graded" if failure is None else failure.detail
            return ItemResult(item_idx=index, item=item, report=None, error=reason)
        metadata = sample.scores["rubric"].metadata
        rubric = self._dataset.get_item_rubric(index)
        words = words_in(item.submission)
        report = report_from(metadata, rubric, settings.panel, settings.config, words=words)
        return ItemResult(item_idx=index, item=item, report=report)


def _thin(results: Sequence[ItemResult]) -> list[str]:
    """A sentence about the items of which less than half could be assessed."""
    thin = sum(each.report is not None and each.report.coverage < LOW_COVERAGE for each in results)
    return [f"{thin:,} of {len(results):,} items: less than half of the weights could be assessed"] if thin else []


def _told(progress: Progress) -> None:
    """How far the run is, on one line of the terminal."""
    total = "?" if progress.total is None else f"{progress.total:,}"
    print(f"\rgraded {progress.done:,} of {total}, {progress.failed:,} failed", end="", file=sys.stderr, flush=True)


@arguments_checked({})
async def evaluate(
    dataset: RubricDataset,
    grader: CriterionGrader,
    *,
    config: EvalConfig | None = None,
    show_progress: bool = False,
    experiment_name: str | None = None,
    store: str | None = None,
    listener: Listener = silent,
) -> EvalResult:
    """Grade a dataset; what was graded before is taken from the store.

    Changing a criterion's text asks again about that criterion only; changing a weight, a value or an aggregation
    asks nobody.
    """
    made = config or EvalConfig(show_progress=show_progress, experiment_name=experiment_name, store=store)
    return await EvalRunner(dataset, grader, made, listener=listener).run()


@arguments_checked({})
def evaluate_sync(
    dataset: RubricDataset,
    grader: CriterionGrader,
    *,
    config: EvalConfig | None = None,
    experiment_name: str | None = None,
    store: str | None = None,
    listener: Listener = silent,
) -> EvalResult:
    """Grade a dataset and wait for the result; works inside a running event loop too."""
    made = config or EvalConfig(experiment_name=experiment_name, store=store)
    return EvalRunner(dataset, grader, made, listener=listener).run_sync()


def _rows(dataset: RubricDataset) -> list[dict[str, Any]]:
    """The items as samples of the run; descriptions that tell them all apart are their ids."""
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
