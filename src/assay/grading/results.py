"""The result of grading a dataset: a report per item, the cost, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.grading.items import DataItem
from assay.judging.panel_config import PanelConfig
from assay.judging.reports import EnsembleEvaluationReport, EvaluationReport, TokenUsage
from assay.types import MetricValue, Spending

if TYPE_CHECKING:
    from assay.grading.dataset import RubricDataset
    from assay.grading.metrics_types import CannotAssessMode, MetricsResult, NAMode


@dataclass(slots=True)
class ItemResult:
    """The result of one item; a failed item has a report without a score, and `error` says why.

    `duration_seconds` is 0 for an item that was graded before.
    """

    item_idx: int
    item: DataItem
    report: EvaluationReport | EnsembleEvaluationReport
    duration_seconds: float
    error: str | None = None

    @property
    def graded(self) -> EnsembleEvaluationReport | None:
        """Return the panel's report; None if the item has no votes or a user-defined grader returned another type."""
        report = self.report
        return report if isinstance(report, EnsembleEvaluationReport) and report.report is not None else None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON document; the item is named by its index."""
        return {
            "item_idx": self.item_idx,
            "report_type": "ensemble" if isinstance(self.report, EnsembleEvaluationReport) else "single",
            "report": self.report.model_dump(mode="json"),
            "duration_seconds": self.duration_seconds,
            "error": self.error,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], item: DataItem) -> ItemResult:
        """The result again from what `to_dict` gave."""
        kind = EnsembleEvaluationReport if data["report_type"] == "ensemble" else EvaluationReport
        report = kind.model_validate(data["report"], strict=False)
        return cls(data["item_idx"], item, report, data["duration_seconds"], data.get("error"))


@dataclass(slots=True)
class EvalTimingStats:
    """Durations of grading in seconds; all zero if nothing was newly graded."""

    total_duration_seconds: float
    mean_item_duration_seconds: float
    min_item_duration_seconds: float
    max_item_duration_seconds: float
    p50_item_duration_seconds: float
    p95_item_duration_seconds: float
    items_per_second: float

    @classmethod
    def from_durations(cls, durations: list[float], total_duration: float) -> EvalTimingStats:
        """The statistics of some items.

        >>> EvalTimingStats.from_durations([1.0, 3.0], 4.0).mean_item_duration_seconds
        2.0
        """
        if not durations:
            return cls(total_duration, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        median, high = (float(number) for number in np.percentile(durations, [50, 95]))
        rate = len(durations) / total_duration if total_duration > 0 else 0.0
        mean = sum(durations) / len(durations)
        return cls(total_duration, mean, min(durations), max(durations), median, high, rate)

    def to_dict(self) -> dict[str, float]:
        """Return the statistics as a JSON document."""
        return asdict(self)


@dataclass(slots=True)
class ExperimentManifest:
    """A summary of an experiment; in assay the store's run holds everything."""

    experiment_name: str
    created_at: datetime
    dataset_name: str | None
    dataset_hash: str
    total_items: int
    status: Literal["running", "completed", "failed"]
    completed_indices: set[int]
    error: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    total_duration_seconds: float | None = None
    dataset_path: str | None = None
    grader_config: dict[str, Any] | None = None
    eval_config: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as a JSON document."""
        document = asdict(self) | {"completed_indices": sorted(self.completed_indices)}
        for name in ("created_at", "started_at", "completed_at"):
            moment = document[name]
            document[name] = None if moment is None else moment.isoformat()
        return document

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ExperimentManifest:
        """The manifest again from what `to_dict` gave."""
        fields = {**data, "completed_indices": set(data["completed_indices"])}
        for name in ("created_at", "started_at", "completed_at"):
            if fields.get(name) is not None:
                fields[name] = datetime.fromisoformat(fields[name])
        return cls(**fields)


@dataclass(slots=True)
class EvalResult:
    """A graded dataset. `n_cached` items cost nothing, because all their votes were stored.

    `n_ties` of the `n_verdicts` were decided by a tie; `mean_continuous` is the mean score without snapping to options.
    `n_order_sensitive` of them were answered in two ways by a judge that was asked in both orders of the options.
    `judge_failures` are the missing votes of each judge, and all of its votes; `missing_votes` are their kinds. The
    `status` is `partial` when the spending limit was reached. `config` is how votes became scores. `experiment_dir`
    names the experiment for `from_experiment`; what it holds is in the `store`, as the `run`.
    """

    item_results: list[ItemResult]
    total_items: int
    successful_items: int
    failed_items: int
    total_token_usage: TokenUsage | None
    total_completion_cost: float | None
    timing_stats: EvalTimingStats
    started_at: datetime
    completed_at: datetime
    errors: list[tuple[int, str]] = field(default_factory=list)
    experiment_name: str | None = None
    experiment_dir: Path | None = None
    run: str = field(default="", kw_only=True)
    cost_usd: Decimal | None = field(default=None, kw_only=True)
    n_cached: int = field(default=0, kw_only=True)
    reused_from: tuple[str, ...] = field(default=(), kw_only=True)
    n_ties: int = field(default=0, kw_only=True)
    n_verdicts: int = field(default=0, kw_only=True)
    n_order_sensitive: int = field(default=0, kw_only=True)
    mean_score: MetricValue | None = field(default=None, kw_only=True)
    mean_continuous: float | None = field(default=None, kw_only=True)
    judge_failures: Mapping[str, tuple[int, int]] = field(default_factory=dict, kw_only=True)
    missing_votes: Mapping[str, Mapping[str, int]] = field(default_factory=dict, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    spending: tuple[Spending, ...] = field(default=(), kw_only=True)
    store: str = field(default="", kw_only=True)
    status: str = field(default="completed", kw_only=True)
    config: PanelConfig = field(default_factory=PanelConfig, kw_only=True)

    @property
    def tie_share(self) -> float | None:
        """The share of verdicts that a tie decided."""
        return self.n_ties / self.n_verdicts if self.n_verdicts else None

    @property
    def n_escalated(self) -> int:
        """Return the number of verdicts decided by the stronger judges of an escalation."""
        reports = [report for report in self.get_reports() if isinstance(report, EnsembleEvaluationReport)]
        return sum(criterion_report.escalated for report in reports for criterion_report in report.criteria)

    @property
    def scores(self) -> list[float | None]:
        """The score of every item, in order; None for an item without one."""
        return [result.report.score for result in self.item_results]

    def get_scores(self) -> list[float]:
        """The scores of the items that have one, in order."""
        return [score for score in self.scores if score is not None]

    def get_reports(self) -> list[EvaluationReport | EnsembleEvaluationReport]:
        """The reports of the items that have a score."""
        return [result.report for result in self.filter_successful()]

    def compute_metrics(
        self,
        dataset: RubricDataset,
        *,
        bootstrap: bool = False,
        n_bootstrap: int = 1000,
        per_judge: bool = False,
        cannot_assess: CannotAssessMode = "exclude",
        na_mode: NAMode = "exclude",
        confidence_level: float = 0.95,
        seed: int | None = None,
        per_item_metrics: Literal["auto", "pooled", "per_criterion"] = "auto",
    ) -> MetricsResult:
        """Compute the panel's agreement with the ground truth of the dataset."""
        from assay.grading.metrics import compute_metrics

        return compute_metrics(
            self,
            dataset,
            bootstrap=bootstrap,
            n_bootstrap=n_bootstrap,
            per_judge=per_judge,
            cannot_assess=cannot_assess,
            na_mode=na_mode,
            confidence_level=confidence_level,
            seed=seed,
            per_item_metrics=per_item_metrics,
        )

    @classmethod
    def from_experiment(cls, experiment_path: Path | str) -> EvalResult:
        """The result of an experiment that was graded before, by its name or its `experiment_dir`."""
        from assay.grading.experiments import result_of

        return result_of(Path(experiment_path))

    def filter_failed(self) -> list[ItemResult]:
        """The items without a score."""
        return [result for result in self.item_results if result.error is not None]

    def filter_successful(self) -> list[ItemResult]:
        """The items with a score."""
        return [result for result in self.item_results if result.error is None]


def counted(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The fields of a result that follow from its items."""
    errors = [(result.item_idx, result.error) for result in results if result.error is not None]
    return {
        "item_results": list(results),
        "total_items": len(results),
        "successful_items": len(results) - len(errors),
        "failed_items": len(errors),
        "errors": errors,
    }
