"""What a metric must beat, read from the stored scores where its kind says how."""

from __future__ import annotations

from dataclasses import replace

from assay.registry import ScoredRun, StoredMetadata
from assay.spec import LoadedMetric, LoadedScorer
from assay.types import MetricResult


def with_baseline(
    scorer: LoadedScorer, metric: LoadedMetric, result: MetricResult, metadata: StoredMetadata
) -> MetricResult:
    """The result with the metric's baselines in its details; as it is where the metric has none."""
    if metric.kind.baseline is None:
        return result
    scored = ScoredRun(
        result=result,
        metadata_fields=scorer.kind.metadata,
        distinct_metadata=metadata.distinct,
    )
    baseline = metric.kind.baseline(metric.settings, scored)
    return result if baseline is None else replace(result, detail={**result.detail, "baseline": baseline})
