"""The metrics that ship, in the order in which they are listed."""

from __future__ import annotations

from assay.registry import LazyKinds, MetricKind

KINDS: LazyKinds[MetricKind] = LazyKinds(
    {
        "mean": "assay.metrics.mean",
        "max": "assay.metrics.extremes:MAXIMUM",
        "min": "assay.metrics.extremes:MINIMUM",
        "std_dev": "assay.metrics.std_dev",
        "median": "assay.metrics.quantiles:MEDIAN",
        "percentile": "assay.metrics.quantiles:PERCENTILE",
        "frequency": "assay.metrics.frequency",
        "weighted_average": "assay.metrics.weighted_average",
        "recall": "assay.metrics.counts:RECALL",
        "precision": "assay.metrics.counts:PRECISION",
        "f1_score": "assay.metrics.counts:F1_SCORE",
        "binary-classification": "assay.metrics.binary_classification",
        "multiclass-classification": "assay.metrics.multiclass_classification",
        "cohens_kappa": "assay.metrics.chance_corrected:KAPPA",
        "matthews_corrcoef": "assay.metrics.chance_corrected:MATTHEWS",
        "brier": "assay.metrics.brier",
        "python": "assay.metrics.snippet",
    }
)
