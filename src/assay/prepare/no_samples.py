"""The dataset of a system task: it has no samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from assay.datasets.batch import Batch
from assay.registry import SourceKind
from assay.spec import LoadedDataset, LoadedTask
from assay.spec.fields import SourceSpec


class NoSource(SourceSpec):
    """No samples at all."""

    type: Literal["none"] = "none"


def _nothing(settings: NoSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    return iter(())


def no_dataset(loaded: LoadedTask) -> LoadedDataset:
    """The dataset of a task that has none."""
    return LoadedDataset(
        key="none",
        kind=SourceKind(settings=NoSource, read=_nothing),
        settings=NoSource(),
        folder=loaded.document.path.parent,
        place=None,
        written={},
    )
