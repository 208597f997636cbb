"""Scorers, one file each; called, `@assay.scorer` makes one of your own."""

from assay.registry import also_decorates

also_decorates(__name__, "assay.extend:scorer")
