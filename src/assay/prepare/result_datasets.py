"""Datasets that only a run can make: several side by side, and the result of another specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import orjson

from assay.datasets.batch import Batch, in_batches
from assay.datasets.joined import JoinedSource, joined
from assay.datasets.open import open_dataset
from assay.registry import SourceKind
from assay.spec import LoadedDataset
from assay.spec.fields import SourceSpec
from assay.store import sample_rows as evidence
from assay.store.runs import RunRecord
from assay.store.sample_rows import StoredSample
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
    spec = orjson.loads(record.spec)
    return LoadedDataset(
        key=key,
        kind=SourceKind(settings=ResultSource, read=partial(_read, store, record.rows_of, spec["scorers"])),
        settings=ResultSource(),
        folder=Path(record.file).parent,
        place=None,
        written={"type": "task_result", "key": key},
    )


def _read(
    store: Store, rows_of: int, scorers: Sequence[str], settings: ResultSource, folder: Path, root: Path | None = None
) -> Iterator[Batch]:
    rows = (result_row(sample, scorers) for sample in evidence.stored_samples(store, rows_of))
    return in_batches(rows, "the result")


def result_row(sample: StoredSample, scorers: Sequence[str]) -> dict[str, Any]:
    """A sample of a finished run as a row: what was asked, what came back, what was said of it."""
    scores: dict[str, Mapping[str, Any]] = {}
    for slot, (values, metadata) in sample.scores.items():
        scores[scorers[slot - 1]] = {
            "values": orjson.loads(values),
            "metadata": {} if metadata is None else orjson.loads(metadata),
        }
    errors = [
        {"scorer": scorers[slot - 1] if slot else None, "stage": f.stage, "kind": f.kind, "detail": f.detail}
        for slot, f in sorted(sample.failures.items())
    ]
    items = [] if sample.trace is None else orjson.loads(sample.trace)
    return {
        "sample_id": sample.sample_id if sample.trial == 0 else f"{sample.sample_id}/{sample.trial}",
        "sample": orjson.loads(sample.input),
        "output": sample.output,
        "solver_output": {"output": sample.output, "trace": items},
        "scores": scores,
        "errors": errors,
    }
