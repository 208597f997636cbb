"""What a graded dataset is: a report an item, what it cost, and what a careful reader should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from assay.grading.items import DataItem
from assay.judging.panel_config import PanelConfig
from assay.judging.reports import EnsembleEvaluationReport
from assay.types import MetricValue, Spending, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What came of one item: a report, or the reason why there is none."""

    item_idx: int
    item: DataItem
    report: EnsembleEvaluationReport | None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """A graded dataset. `n_cached` items cost nothing, because all their votes were there.

    `n_ties` of the `n_verdicts` were decided by a tie; `mean_continuous` is the mean score without snapping to options.
    `n_order_sensitive` of them were answered in two ways by a judge that was asked in both orders of the options.
    `judge_failures` are the missing votes of each judge, and all of its votes; `missing_votes` are their kinds. The
    `status` is `partial` when the spending limit was reached. `config` is how votes became scores.
    """

    run: str
    item_results: tuple[ItemResult, ...]
    total_token_usage: Usage
    total_completion_cost: Decimal | None
    n_cached: int = 0
    reused_from: tuple[str, ...] = ()
    n_ties: int = 0
    n_verdicts: int = 0
    n_order_sensitive: int = 0
    mean_score: MetricValue | None = None
    mean_continuous: float | None = None
    judge_failures: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    missing_votes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    spending: tuple[Spending, ...] = ()
    store: str = ""
    status: str = "completed"
    config: PanelConfig = field(default_factory=PanelConfig)

    @property
    def total_items(self) -> int:
        """How many items there are."""
        return len(self.item_results)

    @property
    def failed_items(self) -> int:
        """How many items have no score."""
        return sum(result.error is not None for result in self.item_results)

    @property
    def successful_items(self) -> int:
        """How many items have a score."""
        return self.total_items - self.failed_items

    @property
    def errors(self) -> tuple[tuple[int, str], ...]:
        """The items without a score, and why."""
        return tuple((result.item_idx, result.error) for result in self.item_results if result.error is not None)

    @property
    def tie_share(self) -> float | None:
        """The share of verdicts that a tie decided."""
        return self.n_ties / self.n_verdicts if self.n_verdicts else None

    @property
    def n_escalated(self) -> int:
        """How many verdicts were decided by the stronger judges of an escalation."""
        return sum(each.escalated for report in self.get_reports() for each in report.report)

    def get_scores(self) -> list[float | None]:
        """The score of every item, in order."""
        return [None if result.report is None else result.report.score for result in self.item_results]

    def get_reports(self) -> list[EnsembleEvaluationReport]:
        """The reports of the items that have one."""
        return [result.report for result in self.item_results if result.report is not None]

    def filter_failed(self) -> list[ItemResult]:
        """The items without a score."""
        return [result for result in self.item_results if result.error is not None]

    def filter_successful(self) -> list[ItemResult]:
        """The items with a score."""
        return [result for result in self.item_results if result.error is None]
