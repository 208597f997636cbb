"""Graded datasets under the name of AutoRubric's module."""

from assay.grading.config import EvalConfig
from assay.grading.dataset import RubricDataset
from assay.grading.escalation_config import EscalationConfig
from assay.grading.evaluate import EvalRunner, evaluate
from assay.grading.grader import CriterionGrader
from assay.grading.items import DataItem
from assay.grading.progress import EvalProgressDisplay
from assay.grading.results import EvalResult, EvalTimingStats, ExperimentManifest, ItemResult
from assay.judging.reports import (
    CriterionReport,
    EnsembleCriterionReport,
    EnsembleEvaluationReport,
    EvaluationReport,
    TokenUsage,
    aggregate_completion_cost,
    aggregate_token_usage,
)

__all__ = [
    "CriterionGrader",
    "CriterionReport",
    "DataItem",
    "EnsembleCriterionReport",
    "EnsembleEvaluationReport",
    "EscalationConfig",
    "EvalConfig",
    "EvalProgressDisplay",
    "EvalResult",
    "EvalRunner",
    "EvalTimingStats",
    "EvaluationReport",
    "ExperimentManifest",
    "ItemResult",
    "RubricDataset",
    "TokenUsage",
    "aggregate_completion_cost",
    "aggregate_token_usage",
    "evaluate",
]
