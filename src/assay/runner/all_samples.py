"""Scorers that need all samples of a run; they run after every sample has its answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, islice

from assay.registry import WholeRunScorerKind
from assay.runner.scoring import score_rows
from assay.runner.writer import RunWriter
from assay.spec import LoadedScorer
from assay.store import sample_rows as evidence
from assay.store.decoder import Sample, decoded
from assay.store.sample_rows import PAGE
from assay.store.store import Store
from assay.types import Rows, Trace


def score_whole(store: Store, run_no: int, scorers: Sequence[LoadedScorer]) -> None:
    """Run those scorers over every answered sample, separately for each trial."""
    slots = [slot for slot, scorer in enumerate(scorers, start=1) if isinstance(scorer.kind, WholeRunScorerKind)]
    if not slots:
        return
    with store.begin() as connection:
        for slot in slots:
            evidence.drop_scores(connection, run_no, slot)
    writer = RunWriter(store, run_no)
    keys = [scorer.key for scorer in scorers]
    answered = sorted(answered_samples(store, run_no, keys), key=lambda sample: sample.trial)
    for _, samples in groupby(answered, key=lambda sample: sample.trial):
        rows = stored_rows(list(samples))
        writer.write_scores(rows, score_rows(scorers, slots, rows))


def answered_samples(store: Store, run_no: int, keys: Sequence[str]) -> Iterable[Sample]:
    """The samples of a run that got an answer; the others stay failed whatever scores them."""
    return (sample for sample in decoded(store, run_no, keys) if None not in sample.failures)


def in_pages(samples: Iterable[Sample]) -> Iterable[list[Sample]]:
    """Samples in groups of a size that fits into memory."""
    left = iter(samples)
    while group := list(islice(left, PAGE)):
        yield group


def stored_rows(group: Sequence[Sample]) -> Rows:
    """Stored samples as a batch that can be scored."""
    has_answers = any(sample.output is not None for sample in group)
    return Rows(
        positions=[sample.position for sample in group],
        ids=[sample.sample_id for sample in group],
        samples=[sample.sample for sample in group],
        answers=[sample.output or "" for sample in group] if has_answers else None,
        traces=[_trace(sample) for sample in group] if has_answers else None,
    )


def _trace(sample: Sample) -> Trace:
    if sample.trace is not None:
        return Trace(tuple(sample.trace))
    return Trace(({"type": "message", "role": "assistant", "content": sample.output or ""},))
