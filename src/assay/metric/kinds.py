"""The metrics that ship, in the order in which they are listed."""

from __future__ import annotations

from assay.metric import (
    binary_classification,
    brier,
    cohens_kappa,
    f1_score,
    frequency,
    matthews_corrcoef,
    maximum,
    mean,
    median,
    minimum,
    multiclass_classification,
    percentile,
    precision,
    recall,
    std_dev,
    weighted_average,
)
from assay.registry import Kind

KINDS: tuple[Kind, ...] = (
    mean.KIND,
    maximum.KIND,
    minimum.KIND,
    std_dev.KIND,
    median.KIND,
    percentile.KIND,
    frequency.KIND,
    weighted_average.KIND,
    recall.KIND,
    precision.KIND,
    f1_score.KIND,
    binary_classification.KIND,
    multiclass_classification.KIND,
    cohens_kappa.KIND,
    matthews_corrcoef.KIND,
    brier.KIND,
)
