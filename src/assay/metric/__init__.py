"""Metrics, one file each; called, `@assay.metric` makes one of your own."""

from assay.registry import also_decorates

also_decorates(__name__, "assay.extend:metric")
