"""The baselines of a metric, computed from the stored scores as its kind declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.registry import ScoredRun, StoredMetadata
from assay.spec import LoadedMetric, LoadedScorer
from assay.spec.task import Trials
from assay.summary.trials import chance_over_trials, rule_of
from assay.types import MetricResult


def with_baseline(
    scorer: LoadedScorer, metric: LoadedMetric, result: MetricResult, metadata: StoredMetadata, trials: Trials | None
) -> MetricResult:
    """The result with the metric's baselines in its details; as it is where the metric has none."""
    if metric.kind.baseline is None:
        return result
    scored = ScoredRun(
        result=result,
        metadata_fields=scorer.kind.metadata,
        distinct_metadata=metadata.distinct,
        **_over_trials(metric, trials),
    )
    baseline = metric.kind.baseline(metric.settings, scored)
    return result if baseline is None else replace(result, detail={**result.detail, "baseline": baseline})


def _over_trials(metric: LoadedMetric, trials: Trials | None) -> dict[str, Any]:
    """Return the score that a metric's field comes from, and the chance level when trials are combined."""
    rule = rule_of(getattr(metric.settings, "field", ""), trials)
    if rule is None:
        return {}
    return {"score_field": rule.score_name, "chance_over_trials": chance_over_trials(rule, trials)}
