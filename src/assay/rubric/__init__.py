"""Rubrics: panels of judges over binary, ordinal and nominal criteria."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.judging.criteria import (
        AggregationStrategy,
        Criterion,
        CriterionOption,
        CriterionVerdict,
        NominalAggregation,
        OrdinalAggregation,
        ScaleType,
    )
    from assay.judging.length import LengthPenalty
    from assay.judging.reports import (
        CriterionReport,
        EnsembleCriterionReport,
        EnsembleEvaluationReport,
        EvaluationReport,
        TokenUsage,
    )
    from assay.judging.shuffle import option_order
    from assay.judging.total import RubricScore, Section
    from assay.judging.verdicts import (
        AggregatedMultiChoiceVerdict,
        JudgeVote,
        MultiChoiceJudgeVote,
        MultiChoiceJudgment,
        MultiChoiceVerdict,
    )
    from assay.judging.vote import RubricWarning, aggregate
    from assay.report.agreement import MetricsResult
    from assay.report.audit import AuditResult
    from assay.rubric.audit import Audit, AuditOptions
    from assay.rubric.batch import EvalRunner, evaluate, evaluate_sync
    from assay.rubric.config import (
        CannotAssessConfig,
        CannotAssessStrategy,
        EvalConfig,
        FewShotConfig,
        JudgeSpec,
        LLMConfig,
    )
    from assay.rubric.dataset import DataItem, RubricDataset
    from assay.rubric.grader import CriterionGrader
    from assay.rubric.metrics import compute_metrics
    from assay.rubric.results import EvalResult, ItemResult
    from assay.rubric.rubric import Rubric

_HOMES = {
    "AggregatedMultiChoiceVerdict": "judging.verdicts",
    "AggregationStrategy": "judging.criteria",
    "Audit": "rubric.audit",
    "AuditOptions": "rubric.audit",
    "AuditResult": "report.audit",
    "CannotAssessConfig": "rubric.config",
    "CannotAssessStrategy": "rubric.config",
    "Criterion": "judging.criteria",
    "CriterionGrader": "rubric.grader",
    "CriterionOption": "judging.criteria",
    "CriterionReport": "judging.reports",
    "CriterionVerdict": "judging.criteria",
    "DataItem": "rubric.dataset",
    "EnsembleCriterionReport": "judging.reports",
    "EnsembleEvaluationReport": "judging.reports",
    "EvalConfig": "rubric.config",
    "EvalResult": "rubric.results",
    "EvalRunner": "rubric.batch",
    "EvaluationReport": "judging.reports",
    "FewShotConfig": "rubric.config",
    "ItemResult": "rubric.results",
    "JudgeSpec": "rubric.config",
    "JudgeVote": "judging.verdicts",
    "LLMConfig": "rubric.config",
    "LengthPenalty": "judging.length",
    "MetricsResult": "report.agreement",
    "MultiChoiceJudgeVote": "judging.verdicts",
    "MultiChoiceJudgment": "judging.verdicts",
    "MultiChoiceVerdict": "judging.verdicts",
    "NominalAggregation": "judging.criteria",
    "OrdinalAggregation": "judging.criteria",
    "Rubric": "rubric.rubric",
    "RubricDataset": "rubric.dataset",
    "RubricScore": "judging.total",
    "RubricWarning": "judging.vote",
    "ScaleType": "judging.criteria",
    "Section": "judging.total",
    "TokenUsage": "judging.reports",
    "aggregate": "judging.vote",
    "compute_metrics": "rubric.metrics",
    "evaluate": "rubric.batch",
    "evaluate_sync": "rubric.batch",
    "option_order": "judging.shuffle",
}

__all__ = [
    "AggregatedMultiChoiceVerdict",
    "AggregationStrategy",
    "Audit",
    "AuditOptions",
    "AuditResult",
    "CannotAssessConfig",
    "CannotAssessStrategy",
    "Criterion",
    "CriterionGrader",
    "CriterionOption",
    "CriterionReport",
    "CriterionVerdict",
    "DataItem",
    "EnsembleCriterionReport",
    "EnsembleEvaluationReport",
    "EvalConfig",
    "EvalResult",
    "EvalRunner",
    "EvaluationReport",
    "FewShotConfig",
    "ItemResult",
    "JudgeSpec",
    "JudgeVote",
    "LLMConfig",
    "LengthPenalty",
    "MetricsResult",
    "MultiChoiceJudgeVote",
    "MultiChoiceJudgment",
    "MultiChoiceVerdict",
    "NominalAggregation",
    "OrdinalAggregation",
    "Rubric",
    "RubricDataset",
    "RubricScore",
    "RubricWarning",
    "ScaleType",
    "Section",
    "TokenUsage",
    "aggregate",
    "compute_metrics",
    "evaluate",
    "evaluate_sync",
    "option_order",
]


def __getattr__(name: str) -> Any:
    """Names load when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
