"""`inline_samples`: samples written into the file that needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from assay.datasets.batch import Batch, in_batches
from assay.datasets.filters import FilteredSource
from assay.registry import SourceKind


class InlineSource(FilteredSource):
    """Samples in the file itself, each a mapping of columns."""

    type: Literal["inline_samples"]
    samples: list[dict[str, Any]]


def read_inline(settings: InlineSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """The samples, in batches."""
    return in_batches(settings.samples, "inline samples")


KIND = SourceKind(settings=InlineSource, read=read_inline)
