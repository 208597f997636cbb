"""Rubrics: panels of judges over binary, ordinal and nominal criteria."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.grading.audit import Audit, AuditOptions
    from assay.grading.config import (
        CannotAssessConfig,
        CannotAssessStrategy,
        EvalConfig,
        FewShotConfig,
        JudgeSpec,
        LLMConfig,
    )
    from assay.grading.dataset import RubricDataset
    from assay.grading.escalation_config import EscalationConfig
    from assay.grading.evaluate import EvalRunner, evaluate, evaluate_sync
    from assay.grading.grader import CriterionGrader
    from assay.grading.items import DataItem
    from assay.grading.results import EvalResult, ItemResult
    from assay.judging.aggregation import RubricWarning, aggregate
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
    from assay.judging.rubric import Rubric
    from assay.judging.shuffle import option_order
    from assay.judging.total import RubricScore, Section
    from assay.judging.verdicts import (
        AggregatedMultiChoiceVerdict,
        JudgeVote,
        MultiChoiceJudgeVote,
        MultiChoiceJudgment,
        MultiChoiceVerdict,
    )
    from assay.results.agreement import MetricsResult
    from assay.results.audit import AuditResult
    from assay.rubric.escalation import (
        EscalationCurve,
        EscalationPoint,
        calibrate_escalation,
        escalation_stats,
        replay_escalation,
    )
    from assay.rubric.metrics import compute_metrics

_HOMES = {
    "AggregatedMultiChoiceVerdict": "judging.verdicts",
    "AggregationStrategy": "judging.criteria",
    "Audit": "grading.audit",
    "AuditOptions": "grading.audit",
    "AuditResult": "results.audit",
    "CannotAssessConfig": "grading.config",
    "CannotAssessStrategy": "grading.config",
    "Criterion": "judging.criteria",
    "CriterionGrader": "grading.grader",
    "CriterionOption": "judging.criteria",
    "CriterionReport": "judging.reports",
    "CriterionVerdict": "judging.criteria",
    "DataItem": "grading.items",
    "EnsembleCriterionReport": "judging.reports",
    "EnsembleEvaluationReport": "judging.reports",
    "EscalationConfig": "grading.escalation_config",
    "EscalationCurve": "rubric.escalation",
    "EscalationPoint": "rubric.escalation",
    "EvalConfig": "grading.config",
    "EvalResult": "grading.results",
    "EvalRunner": "grading.evaluate",
    "EvaluationReport": "judging.reports",
    "FewShotConfig": "grading.config",
    "ItemResult": "grading.results",
    "JudgeSpec": "grading.config",
    "JudgeVote": "judging.verdicts",
    "LLMConfig": "grading.config",
    "LengthPenalty": "judging.length",
    "MetricsResult": "results.agreement",
    "MultiChoiceJudgeVote": "judging.verdicts",
    "MultiChoiceJudgment": "judging.verdicts",
    "MultiChoiceVerdict": "judging.verdicts",
    "NominalAggregation": "judging.criteria",
    "OrdinalAggregation": "judging.criteria",
    "Rubric": "judging.rubric",
    "RubricDataset": "grading.dataset",
    "RubricScore": "judging.total",
    "RubricWarning": "judging.aggregation",
    "ScaleType": "judging.criteria",
    "Section": "judging.total",
    "TokenUsage": "judging.reports",
    "aggregate": "judging.aggregation",
    "calibrate_escalation": "rubric.escalation",
    "compute_metrics": "rubric.metrics",
    "escalation_stats": "rubric.escalation",
    "evaluate": "grading.evaluate",
    "evaluate_sync": "grading.evaluate",
    "option_order": "judging.shuffle",
    "replay_escalation": "rubric.escalation",
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
    "EscalationConfig",
    "EscalationCurve",
    "EscalationPoint",
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
    "calibrate_escalation",
    "compute_metrics",
    "escalation_stats",
    "evaluate",
    "evaluate_sync",
    "option_order",
    "replay_escalation",
]


def __getattr__(name: str) -> Any:
    """Names load when they are first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
