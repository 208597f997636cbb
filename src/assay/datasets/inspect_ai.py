"""`inspect_ai`: the samples of an Inspect log, with the conversation of each as a trace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from assay.datasets.batch import Batch, in_batches
from assay.datasets.filters import FilteredSource
from assay.datasets.inspect_file import input_columns, read_log, trace_items
from assay.datasets.paths import located_path
from assay.registry import SourceKind
from assay.spec.fields import Located


class InspectSource(FilteredSource):
    """The samples of an Inspect log (.eval or .json): input, target, metadata, and the conversation in `trace`."""

    type: Literal["inspect_ai"]
    path: Located
    limit: int | None = Field(default=None, ge=1)

    def files(self, folder: Path, root: Path | None = None) -> Iterator[tuple[str, Path]]:
        """The log whose bytes are the dataset."""
        path = located_path(self.path, folder, root, expected="file")
        yield path.name, path


def read_inspect_samples(settings: InspectSource, folder: Path, root: Path | None = None) -> Iterator[Batch]:
    """Read the samples of the log in batches; each epoch of a sample is a separate row."""
    path = located_path(settings.path, folder, root, expected="file")
    _, samples = read_log(path)
    several = len({sample.get("epoch") or 1 for sample in samples}) > 1
    rows = (_row(sample, several=several) for sample in samples)
    return in_batches(list(islice(rows, settings.limit)), str(settings.path))


def _row(sample: dict[str, Any], *, several: bool) -> dict[str, Any]:
    name = str(sample.get("id"))
    row = {**input_columns(sample), "trace": list(trace_items(sample.get("messages")))}
    if several:
        row["epoch"] = sample.get("epoch") or 1
        name = f"{name}/{row['epoch']}"
    return {**row, "sample_id": name}


KIND = SourceKind(settings=InspectSource, read=read_inspect_samples)
