"""Labels by people: which answers a person is shown, what is kept of what they say, and metrics corrected by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analysis.calibrate import calibrate_stored
from assay.analysis.label_targets import Target, content_digest, label_targets
from assay.api.stored import find, read_project_store
from assay.api.viewing import samples_of
from assay.errors import SpecError
from assay.results.calibration import Calibration
from assay.stats.random import generator
from assay.store.decoder import Sample
from assay.store.labels import (
    HumanLabel,
    delete_label,
    label_counts,
    labels_version,
    raise_probability,
    read_labels,
    write_label,
)
from assay.store.runs import RunRecord, now
from assay.store.sample_lookup import answered_positions
from assay.store.store import Store

__all__ = [
    "QUEUE_SIZES",
    "HumanLabel",
    "LabelQueue",
    "Said",
    "Target",
    "correct_stored",
    "corrections",
    "corrections_of",
    "draw",
    "filtered",
    "label_counts",
    "label_targets",
    "labels_version",
    "own_counts",
    "own_labels",
    "save",
    "shown_columns",
    "undo",
]

QUEUE_SIZES = (30, 60, 100, 200, 500)
LONGEST_COMMENT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An answer to label: where it is, and the digest that its label goes by."""

    position: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQueue:
    """The answers that a person labels, in their order; `probability` is None where a filter chose them."""

    entries: tuple[QueueEntry, ...]
    probability: float | None
    n_answers: int

    def entry(self, position: int) -> QueueEntry | None:
        """The entry at a position of the run."""
        return next((entry for entry in self.entries if entry.position == position), None)


def draw(location: str, run_id: str, target: str, n: int) -> LabelQueue:
    """Draw answers of a run evenly: everybody gets the same ones, and a larger queue begins with the smaller one.

    The draw depends on the run and the target, never on a score.
    """
    store = read_project_store(location)
    try:
        record = find(store, run_id)
        positions = answered_positions(store, record.rows_of)
        order = generator(record.seed, f"label/{record.id}/{target}").permutation(len(positions))
        chosen = [positions[place] for place in order[:n].tolist()]
        probability = min(1.0, n / len(positions)) if positions else None
        return LabelQueue(entries=_entries(store, record, chosen), probability=probability, n_answers=len(positions))
    finally:
        store.close()


def filtered(store: Store, record: RunRecord, positions: Sequence[int]) -> LabelQueue:
    """The answers that a filter lists; their labels are unfit for `calibrate`."""
    return LabelQueue(entries=_entries(store, record, positions), probability=None, n_answers=len(positions))


def _entries(store: Store, record: RunRecord, positions: Sequence[int]) -> tuple[QueueEntry, ...]:
    samples = samples_of(store, record, positions)
    entries = {
        sample.position: QueueEntry(position=sample.position, content=content_digest(record.spec, sample))
        for sample in samples
        if sample.output is not None
    }
    # two samples may be alike: a person is asked about their answer once
    by_content: dict[bytes, QueueEntry] = {}
    for position in positions:
        if position in entries:
            by_content.setdefault(entries[position].content, entries[position])
    return tuple(by_content.values())


def own_labels(store: Store, target: str, annotator: str) -> dict[bytes, HumanLabel]:
    """What a person has said on a target so far, by the content of the answers."""
    return {label.content: label for label in read_labels(store, targets=[target], annotator=annotator)}


def own_counts(store: Store, annotator: str) -> Counter[tuple[str, str]]:
    """How many answers a person has labelled, by run and target."""
    mine = read_labels(store, annotator=annotator)
    return Counter((label.run, label.target) for label in mine if label.label is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person says of an answer; `label` is None to skip it."""

    annotator: str
    label: str | None
    comment: str = ""


def save(store: Store, record: RunRecord, target: Target, queue: LabelQueue, entry: QueueEntry, said: Said) -> None:
    """Keep a label; a SpecError where it is none of the target's."""
    if said.label is not None:
        _check(target, said.label)
    sample = samples_of(store, record, [entry.position])[0]
    if queue.probability is not None:
        raise_probability(
            store, run=record.id, target=target.address, annotator=said.annotator, probability=queue.probability
        )
    write_label(
        store,
        HumanLabel(
            content=entry.content,
            target=target.address,
            annotator=said.annotator,
            label=said.label,
            # a NUL is no character that a database keeps
            comment=said.comment.replace("\0", "")[:LONGEST_COMMENT] or None,
            run=record.id,
            sample_id=sample.sample_id,
            trial=sample.trial,
            probability=queue.probability,
            created_at=now(),
        ),
    )


def _check(target: Target, label: str) -> None:
    if target.options:
        if label not in target.options:
            raise SpecError(f'"{label[:40]}" is none of the labels {", ".join(target.options)}')
        return
    try:
        number = float(label)
    except ValueError:
        number = float("nan")
    low, high = target.bounds or (float("-inf"), float("inf"))
    if not low <= number <= high or number in (float("inf"), float("-inf")):
        raise SpecError(f'"{label[:40]}" is not a number from {low:g} to {high:g}')


def undo(store: Store, target: str, annotator: str, queue: LabelQueue) -> int | None:
    """Take back the last label that a person gave in a queue, and return its position; None where there is none."""
    contents = {entry.content: entry.position for entry in queue.entries}
    mine = [label for label in own_labels(store, target, annotator).values() if label.content in contents]
    if not mine:
        return None
    last = max(mine, key=lambda label: label.created_at)
    delete_label(store, content=last.content, target=target, annotator=annotator)
    return contents[last.content]


def shown_columns(sample: Sample, target: Target) -> dict[str, Any]:
    """The columns that a person sees: not the id, not the answer once more, and nothing that others think of it."""
    return {
        name: value
        for name, value in sample.sample.items()
        if name not in target.hidden and name != "sample_id" and value != sample.output and value not in (None, "")
    }


def corrections(store: Store, record: RunRecord) -> bool:
    """Whether anybody has labelled what a metric of the run measures."""
    counts = label_counts(store)
    return bool(counts) and any(target in counts for target in label_targets(store, record))


def corrections_of(store: Store, record: RunRecord) -> dict[str, Calibration]:
    """The metrics of a run as the labels in the store correct them, by address; those without enough are left out."""
    if record.summary is None or not corrections(store, record):
        return {}
    try:
        return {calibration.address: calibration for calibration in calibrate_stored(store, record)}
    except SpecError:
        return {}


def correct_stored(location: str, run_id: str) -> Mapping[str, Calibration]:
    """The corrected metrics of a run of the store at a location, for a process that has not opened it."""
    store = read_project_store(location)
    try:
        return corrections_of(store, find(store, run_id))
    finally:
        store.close()
