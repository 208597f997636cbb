"""Datasets that exist only within a run: several side by side, or the result of another specification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from assay.datasets.batch import Batch, in_batches
from assay.datasets.joined import JoinedSource, joined
from assay.datasets.open import open_dataset
from assay.registry import SourceKind
from assay.spec import LoadedDataset
from assay.spec.fields import SourceSpec
from assay.store.decoder import Sample, decoded
from assay.store.runs import RunRecord
from assay.store.store import Store


def side_by_side(parts: Sequence[tuple[str, LoadedDataset]], *, root: Path | None) -> LoadedDataset:
    """Several datasets as one, a sample holding one row of each under its name."""
    opened = [(name, partial(open_dataset, part.kind, part.settings, part.folder, root=root)) for name, part in parts]
    first = parts[0][1]
    return LoadedDataset(
        key="+".join(part.key for _, part in parts),
        kind=joined(opened),
        settings=JoinedSource(),
        folder=first.folder,
        place=first.place,
        written={"keys": {name: part.written for name, part in parts}},
    )


class ResultSource(SourceSpec):
    """The result of another specification of the same run."""

    type: Literal["task_result"] = "task_result"


def result_dataset(key: str, store: Store, record: RunRecord) -> LoadedDataset:
    """The samples of a finished run with their answers, scores and failures, as a dataset."""
    return LoadedDataset(
        key=key,
        kind=SourceKind(settings=ResultSource, read=partial(_read, store, record.rows_of, record.spec.scorer_keys)),
        settings=ResultSource(),
        folder=Path(record.file).parent,
        place=None,
        written={"type": "task_result", "key": key},
    )


def _read(
    store: Store, rows_of: int, scorers: Sequence[str], settings: ResultSource, folder: Path, root: Path | None = None
) -> Iterator[Batch]:
    rows = (result_row(sample) for sample in decoded(store, rows_of, scorers))
    return in_batches(rows, "the result")


def result_row(sample: Sample) -> dict[str, Any]:
    """A sample of a finished run as a row: its input, answer, scores and failures."""
    return {
        "sample_id": sample.sample_id if sample.trial == 0 else f"{sample.sample_id}/{sample.trial}",
        "sample": sample.sample,
        "output": sample.output,
        "solver_output": {"output": sample.output, "trace": sample.trace or []},
        "scores": {key: {"values": score.values, "metadata": score.metadata} for key, score in sample.scores.items()},
        "errors": [
            {"scorer": scorer, "stage": failure.stage, "kind": failure.kind, "detail": failure.detail}
            for scorer, failure in sample.failures.items()
        ],
    }
