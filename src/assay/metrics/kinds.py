"""The metrics that ship, in the order in which they are listed."""

from __future__ import annotations

from assay.registry import LazyKinds, MetricKind

KINDS: LazyKinds[MetricKind] = LazyKinds(
    {
        "mean": "assay.metrics.mean",
        "max": "assay.metrics.maximum",
        "min": "assay.metrics.minimum",
        "std_dev": "assay.metrics.std_dev",
        "median": "assay.metrics.median",
        "percentile": "assay.metrics.percentile",
        "frequency": "assay.metrics.frequency",
        "weighted_average": "assay.metrics.weighted_average",
        "recall": "assay.metrics.recall",
        "precision": "assay.metrics.precision",
        "f1_score": "assay.metrics.f1_score",
        "binary-classification": "assay.metrics.binary_classification",
        "multiclass-classification": "assay.metrics.multiclass_classification",
        "cohens_kappa": "assay.metrics.cohens_kappa",
        "matthews_corrcoef": "assay.metrics.matthews_corrcoef",
        "brier": "assay.metrics.brier",
        "python": "assay.metrics.snippet",
    }
)
