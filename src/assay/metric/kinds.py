"""The metrics that ship, in the order in which they are listed."""

from __future__ import annotations

from assay.registry import Kinds

KINDS = Kinds(
    {
        "mean": "assay.metric.mean",
        "max": "assay.metric.maximum",
        "min": "assay.metric.minimum",
        "std_dev": "assay.metric.std_dev",
        "median": "assay.metric.median",
        "percentile": "assay.metric.percentile",
        "frequency": "assay.metric.frequency",
        "weighted_average": "assay.metric.weighted_average",
        "recall": "assay.metric.recall",
        "precision": "assay.metric.precision",
        "f1_score": "assay.metric.f1_score",
        "binary-classification": "assay.metric.binary_classification",
        "multiclass-classification": "assay.metric.multiclass_classification",
        "cohens_kappa": "assay.metric.cohens_kappa",
        "matthews_corrcoef": "assay.metric.matthews_corrcoef",
        "brier": "assay.metric.brier",
        "python": "assay.metric.snippet",
    }
)
