"""A graded dataset from the store: what came of every item, by the rules of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.errors import MissingFile, SpecError
from assay.grading.config import EXPERIMENTS
from assay.grading.dataset import RubricDataset
from assay.grading.items import DataItem
from assay.grading.judge_models import here
from assay.grading.results import EvalResult, EvalTimingStats, ItemResult, counted
from assay.grading.scorer import SUBMISSION, SubmissionScorer
from assay.judging.judge_failures import count_votes, missing_notes
from assay.judging.length import LengthPenalty
from assay.judging.outcome import report_from
from assay.judging.reports import EnsembleEvaluationReport, TokenUsage, mean_of
from assay.judging.rubric import Rubric, stored_rubrics
from assay.judging.total import LOW_COVERAGE
from assay.results.run import RunReport
from assay.scorers.rubric import JudgeSettings
from assay.store import runs
from assay.store.decoder import Sample, read_samples
from assay.store.runs import RunRecord
from assay.store.settings import shuffle_seed
from assay.store.store import Store, default_location, open_for_reading
from assay.summary.finish import stored_report


@dataclass(frozen=True, slots=True)
class StoredExperiment:
    """A run of a graded dataset, with the settings that turn its votes into scores."""

    store: Store
    record: RunRecord
    report: RunReport
    settings: SubmissionScorer
    dataset: RubricDataset

    def result(self, location: str, folder: Path) -> EvalResult:
        """The run as a result; `folder` is where AutoRubric would keep the experiment."""
        record, report = self.record, self.report
        results = [self._item(sample) for sample in read_samples(self.store, record)]
        graded = [report for result in results if result.graded is not None for report in result.graded.criteria]
        counts = count_votes(vote for report in graded for vote in report.votes)
        started = datetime.fromisoformat(record.started_at)
        completed = started if record.finished_at is None else datetime.fromisoformat(record.finished_at)
        asked = [result.duration_seconds for result in results if result.duration_seconds]
        return EvalResult(
            **counted(results),
            total_token_usage=TokenUsage.of(report.usage),
            total_completion_cost=None if report.cost_usd is None else float(report.cost_usd),
            timing_stats=EvalTimingStats.from_durations(asked, (completed - started).total_seconds()),
            started_at=started,
            completed_at=completed,
            experiment_name=record.task,
            experiment_dir=folder / record.task,
            run=report.run,
            cost_usd=report.cost_usd,
            n_cached=report.n_cached,
            reused_from=report.reused_from,
            n_ties=sum(report.by_tie for report in graded),
            n_verdicts=len(graded),
            n_order_sensitive=sum(report.order_sensitive for report in graded),
            mean_score=next(iter(report.scorers[0].metrics[0].result.values.values())),
            mean_continuous=mean_of(
                [result.graded.continuous_score for result in results if result.graded is not None]
            ),
            judge_failures={judge: (count.missing, count.asked) for judge, count in counts.items()},
            missing_votes={judge: dict(count.kinds) for judge, count in counts.items() if count.missing},
            warnings=(*missing_notes(counts), *_thin(results)),
            spending=report.spending,
            status=report.status,
            store=location,
            config=self.settings.config,
        )

    def _item(self, sample: Sample) -> ItemResult:
        """Rebuild the result of one item from its votes; an item without any assessed criterion has failed."""
        index = sample.position
        item = self.dataset[index]
        seconds = self.settings.durations.get(index, 0.0)
        if "rubric" not in sample.scores:
            failure = next(iter(sample.failures.values()), None)
            reason = "it was not graded" if failure is None else failure.detail
            return ItemResult(index, item, EnsembleEvaluationReport(score=None, error=reason), seconds, reason)
        metadata = sample.scores["rubric"].metadata
        config = self.settings.config
        words = config.scoring.length(item.submission)
        rubric = self.dataset.get_item_rubric(index)
        report = report_from(metadata, rubric, self.settings.panel, config, words=words)
        error = None if report.score is not None else f"abstained: {report.reason or 'there is no score'}"
        return ItemResult(index, item, report, seconds, error)


def _thin(results: Sequence[ItemResult]) -> list[str]:
    """A sentence about the items of which less than half could be assessed."""
    thin = sum(result.graded is not None and result.graded.coverage < LOW_COVERAGE for result in results)
    return [f"{thin:,} of {len(results):,} items: less than half of the weights could be assessed"] if thin else []


def result_of(path: Path) -> EvalResult:
    """The newest run of an experiment, by its name or by `experiments_dir`/name."""
    if (path / "manifest.json").is_file():
        raise SpecError(f"{path} is an experiment of AutoRubric: `assay import {path}` brings it into the store")
    folder = path.parent if path.parent != Path() else Path(EXPERIMENTS)
    location = default_location(here()) if str(folder) == EXPERIMENTS else str(folder / "assay.db")
    missing = MissingFile(f'there is no experiment "{path.name}" in the store {location}')
    if not Path(location).is_file():
        raise missing
    store = open_for_reading(location)
    try:
        record = runs.latest_named(store, path.name)
        if record is None or record.kind != "grade":
            raise missing
        dataset = _dataset(store, record)
        settings = _settings(record).for_dataset(dataset)
        if settings.wants_seed():
            settings = settings.with_seed(shuffle_seed(store))
        report = stored_report(store, record)
        return StoredExperiment(store, record, report, settings, dataset).result(location, folder)
    finally:
        store.close()


def _dataset(store: Store, record: RunRecord) -> RubricDataset:
    """The items as the run stored them."""
    (content, *_) = record.spec.scorers[0].rubrics
    rubric = stored_rubrics(content)[0]
    items = [_item(sample.sample) for sample in read_samples(store, record)]
    return RubricDataset(rubric=rubric, items=items, name=record.task)


def _item(row: Mapping[str, Any]) -> DataItem:
    return DataItem(
        row["submission"],
        row.get("description", ""),
        row.get("ground_truth"),
        None if row.get("rubric") is None else Rubric.from_dict(row["rubric"]),
        row.get("reference_submission"),
        row.get("prompt"),
    )


def _settings(record: RunRecord) -> SubmissionScorer:
    """Return the settings that turn votes into scores; few-shot examples are stored only as a digest."""
    stored = dict(record.spec.scorers[0].settings)
    penalty = stored.pop("length_penalty", None)
    names = SubmissionScorer.model_fields.keys() - {"few_shot", "judges", "value", "metrics", "rubric"}
    return SubmissionScorer.model_construct(
        value=SUBMISSION,
        judges=[JudgeSettings.model_validate(judge, strict=False) for judge in stored["judges"]],
        length_penalty=None
        if penalty is None
        else LengthPenalty(**{name: value for name, value in penalty.items() if name != "count_fn"}),
        **{name: value for name, value in stored.items() if name in names},
    )
