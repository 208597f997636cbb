"""Whole datasets through a panel, on the engine and the store of every other run: no vote is paid for twice."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import orjson

from assay.datasets.inline import KIND as INLINE
from assay.datasets.inline import InlineSource
from assay.errors import SpecError
from assay.grading.config import EvalConfig
from assay.grading.dataset import RubricDataset
from assay.grading.grader import CriterionGrader
from assay.grading.judge_models import connected, here
from assay.grading.results import EvalResult, ItemResult
from assay.judging.judge_failures import count_votes, missing_notes
from assay.judging.length import words_in
from assay.judging.outcome import beside_truth, outcome_of, report_from
from assay.judging.panel import grade
from assay.judging.panel_config import Judge, PanelConfig
from assay.judging.question import Submission
from assay.judging.reports import mean_of
from assay.judging.rubric import Rubric
from assay.judging.total import LOW_COVERAGE
from assay.judging.verdicts import read_verdict
from assay.prepare.plan import Options, Plan
from assay.registry import Kind
from assay.results.estimate import Estimate
from assay.results.run import RunReport
from assay.runner.estimate import estimate_run
from assay.runner.progress import Listener, Progress, silent
from assay.runner.session import run_task
from assay.spec import LoadedDataset, LoadedScorer, LoadedTask
from assay.spec.document import Document
from assay.spec.fields import ScorerSpec
from assay.spec.task import Definition, Task
from assay.store import runs
from assay.store.sample_rows import StoredSample, stored_samples
from assay.store.settings import shuffle_seed
from assay.store.store import Store, default_location, open_store
from assay.types import Ask, Failure, Rows, Score
from assay.version import __version__

_SLOT = 1


class EvalRunner:
    """Grades a dataset; running it again goes on where it stopped and asks only what is missing.

    `aside` says what a run is a step of, if nobody is to find it as the latest.
    """

    def __init__(
        self,
        dataset: RubricDataset,
        grader: CriterionGrader,
        config: EvalConfig | None = None,
        *,
        listener: Listener = silent,
        aside: str | None = None,
    ) -> None:
        if not len(dataset):
            raise SpecError("the dataset has no items")
        self._dataset = dataset
        self._grader = grader
        self._config = config or EvalConfig()
        self._aside = aside
        self._listener = _told if self._config.show_progress and listener is silent else listener
        for rubric in _rubrics(dataset):
            grader.check(rubric)

    async def run(self) -> EvalResult:
        """Grade every item that is not graded yet."""
        return await asyncio.to_thread(self.run_sync)

    def run_sync(self) -> EvalResult:
        """The same for programs without an event loop."""
        location = self._config.store or default_location(here())
        store = open_store(location)
        try:
            config = replace(self._grader.config, seed=self._seed(store))
            report = run_task(self._plan(config), store, listener=self._listener)
            return self._result(store, report, config, location)
        finally:
            store.close()

    def plan_sync(self) -> Estimate:
        """What grading would ask and cost; asks nobody."""
        store = open_store(self._config.store or default_location(here()))
        try:
            return estimate_run(self._plan(replace(self._grader.config, seed=self._seed(store))), store)
        finally:
            store.close()

    @property
    def _task(self) -> str:
        return self._config.experiment_name or self._dataset.name or "rubric"

    def _seed(self, store: Store) -> int | None:
        """The grader's seed; one that was not set is that of the store, so that a later run asks the same questions."""
        return shuffle_seed(store) if self._grader.seed_was_drawn else self._grader.seed

    def _plan(self, config: PanelConfig) -> Plan:
        panel = _Panel(type="rubric_batch", key="rubric")
        panel.bind(self._dataset, self._grader.judges, config)
        connections: dict[str | None, Any] = dict(connected(self._grader.clients.configs).items())
        samples = _rows(self._dataset)
        spec = {
            "assay": __version__,
            "task": {"key": self._task, "definition": {}},
            "limit": None,
            "seed": config.seed,
            "scorers": ["rubric"],
            "shuffle_seed": config.seed,
            "judges": [_judge_document(judge) for judge in self._grader.judges],
            "rules": replace(config, few_shot=None),
            "few_shot": None if config.few_shot is None else config.few_shot.identity,
            "rubrics": [
                {
                    "criteria": [criterion.model_dump(mode="json") for criterion in rubric.criteria],
                    "guidelines": rubric.guidelines,
                    "sections": [section.model_dump() for section in rubric.sections],
                }
                for rubric in _rubrics(self._dataset)
            ],
            "dataset": {"sha256": hashlib.sha256(orjson.dumps(samples)).hexdigest()},
            "models": {str(key): connection.identity for key, connection in connections.items()},
            **({} if self._aside is None else {runs.ASIDE: self._aside}),
        }
        text = orjson.dumps(spec, option=orjson.OPT_SORT_KEYS)
        scorer = LoadedScorer(key="rubric", kind=_KIND, settings=panel, metrics=tuple(_metrics()), place=None)
        source = InlineSource(type="inline_samples", samples=samples)
        dataset = LoadedDataset(
            key=self._task, kind=INLINE, settings=source, folder=Path(), place=None, written={"type": "inline_samples"}
        )
        return Plan(
            loaded=_loaded(self._task, dataset, scorer),
            dataset=dataset,
            options=Options(
                fresh=self._config.fresh,
                max_concurrency=self._config.max_concurrency,
                max_cost=self._config.max_cost,
            ),
            connections=connections,
            spec=orjson.loads(text),
            identity=hashlib.sha256(text).hexdigest(),
        )

    def _result(self, store: Store, report: RunReport, config: PanelConfig, location: str) -> EvalResult:
        record = runs.find(store, report.run)
        results = tuple(self._item(stored, config) for stored in stored_samples(store, record.rows_of))
        graded = [each for result in results if result.report is not None for each in result.report.report]
        counts = count_votes(vote for each in graded for vote in each.votes)
        return EvalResult(
            run=report.run,
            item_results=results,
            total_token_usage=report.usage,
            total_completion_cost=report.cost_usd,
            n_cached=report.n_cached,
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
        )

    def _item(self, stored: StoredSample, config: PanelConfig) -> ItemResult:
        index = stored.position
        item = self._dataset[index]
        if _SLOT not in stored.scores:
            failure = next(iter(stored.failures.values()), None)
            reason = "it was not graded" if failure is None else failure.detail
            return ItemResult(item_idx=index, item=item, report=None, error=reason)
        metadata = orjson.loads(stored.scores[_SLOT][1] or "{}")
        rubric = self._dataset.get_item_rubric(index)
        words = words_in(item.submission)
        report = report_from(metadata, rubric, self._grader.judges, config, words=words)
        return ItemResult(item_idx=index, item=item, report=report)


def _thin(results: Sequence[ItemResult]) -> list[str]:
    """A sentence about the items of which less than half could be assessed."""
    thin = sum(each.report is not None and each.report.coverage < LOW_COVERAGE for each in results)
    return [f"{thin:,} of {len(results):,} items: less than half of the weights could be assessed"] if thin else []


def _told(progress: Progress) -> None:
    """How far the run is, on one line of the terminal."""
    total = "?" if progress.total is None else f"{progress.total:,}"
    print(f"\rgraded {progress.done:,} of {total}, {progress.failed:,} failed", end="", file=sys.stderr, flush=True)


class _Panel(ScorerSpec):
    """The panel as a scorer of a run; what it needs is bound to it, because files do not name it."""

    type: Literal["rubric_batch"]
    _dataset: RubricDataset
    _judges: tuple[Judge, ...]
    _panel_config: PanelConfig

    def bind(self, dataset: RubricDataset, judges: Sequence[Judge], config: PanelConfig) -> None:
        self._dataset, self._judges, self._panel_config = dataset, tuple(judges), config

    async def judged(self, rows: Rows, ask: Ask) -> Score | Failure:
        """The panel's score of one item."""
        index = int(rows.samples[0]["item"])
        rubric = self._dataset.get_item_rubric(index)
        submission = Submission(
            text=self._dataset[index].submission,
            prompt=self._dataset.get_item_prompt(index),
            reference=self._dataset.get_item_reference_submission(index),
            guidelines=rubric.guidelines,
            row=index,
        )
        report = await grade(ask, rubric, submission, self._judges, self._panel_config)
        outcome = outcome_of(report, rubric, self.type, keep_abstained=True)
        truth = self._dataset[index].ground_truth
        if isinstance(outcome, Failure) or truth is None:
            return outcome
        verdicts = [read_verdict(criterion, said) for criterion, said in zip(rubric.criteria, truth, strict=True)]
        words = words_in(submission.text)
        return beside_truth(outcome, rubric, verdicts, self._panel_config.scoring, words=words)


async def _judged(settings: _Panel, rows: Rows, ask: Ask) -> Score | Failure:
    return await settings.judged(rows, ask)


_KIND = Kind(settings=_Panel, function=_judged, live=True, ranges={"score": (0.0, 1.0), "coverage": (0.0, 1.0)})


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


def evaluate_sync(
    dataset: RubricDataset,
    grader: CriterionGrader,
    *,
    config: EvalConfig | None = None,
    experiment_name: str | None = None,
    store: str | None = None,
    listener: Listener = silent,
) -> EvalResult:
    """The same for programs without an event loop."""
    made = config or EvalConfig(experiment_name=experiment_name, store=store)
    return EvalRunner(dataset, grader, made, listener=listener).run_sync()


def _rubrics(dataset: RubricDataset) -> list[Rubric]:
    """Every rubric that an item is graded by, each once, in order."""
    return list(dict.fromkeys(dataset.get_item_rubric(index) for index in range(len(dataset))))


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


def _judge_document(judge: Judge) -> dict[str, Any]:
    return {"id": judge.id, "weight": judge.weight, "sampling": judge.sampling}


def _metrics() -> Iterator[Any]:
    """The mean score, with its interval."""
    from assay.builtin import registry
    from assay.spec.bound import LoadedMetric

    kind = registry().metrics["mean"]
    settings: Any = kind.settings.model_validate({"type": "mean", "field": "score", "name": "score"})
    yield LoadedMetric(key="mean", kind=kind, settings=settings)


def _loaded(name: str, dataset: LoadedDataset, scorer: LoadedScorer) -> LoadedTask:
    root = here()
    document = Document(path=root / name, root=root, data={}, positions={}, sources={})
    task = Task.model_construct(key=name, display_name=name, description="", definition=Definition())
    return LoadedTask(
        task=task, document=document, dataset=dataset, solver=None, scorers=(scorer,), config={}, resolved={}
    )
