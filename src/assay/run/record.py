"""Score a solved batch and commit it: samples, scores and failures in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from assay.run.encode import RowEncoder
from assay.spec import LoadedScorer
from assay.store import evidence, runs
from assay.store.store import Store
from assay.types import Failure, Rows, ScoreColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A batch after its solver: every row, and by their places those that got no answer."""

    rows: Rows
    inputs: Sequence[str]
    failures: dict[int, Failure] = field(default_factory=dict)


class Recorder:
    """Takes solved batches; what it has returned from is durable."""

    def __init__(self, store: Store, run_no: int, scorers: Sequence[LoadedScorer]) -> None:
        self._store = store
        self._run_no = run_no
        self._scorers = scorers
        self._encoders = [(RowEncoder(), RowEncoder()) for _ in scorers]

    def record(self, solved: Solved, *, cursor: int) -> int:
        """Score and commit a batch; says how many failures it holds."""
        answered = without(solved.rows, solved.failures)
        scored = [scorer.kind.function(scorer.settings, answered) for scorer in self._scorers]
        with self._store.begin() as connection:
            evidence.write_samples(connection, self._run_no, _sample_columns(solved))
            rows = solved.rows
            failed = [(rows.positions[place], failure) for place, failure in solved.failures.items()]
            evidence.write_failures(connection, self._run_no, 0, failed)
            for slot, columns in enumerate(scored, start=1):
                kept = without(answered, columns.failures)
                values, metadata = self._encode(slot - 1, columns, len(answered))
                evidence.write_scores(connection, self._run_no, slot, kept.positions, values, metadata)
                lost = [(answered.positions[place], failure) for place, failure in columns.failures.items()]
                evidence.write_failures(connection, self._run_no, slot, lost)
            runs.advance(connection, self._run_no, cursor)
        return len(solved.failures) + sum(len(columns.failures) for columns in scored)

    def _encode(self, scorer: int, columns: ScoreColumns, n: int) -> tuple[list[str], list[str]]:
        for_values, for_metadata = self._encoders[scorer]
        values = for_values.encode(columns.values, n)
        metadata = for_metadata.encode(columns.metadata, n)
        if not columns.failures:
            return values, metadata
        keep = [place for place in range(n) if place not in columns.failures]
        return [values[place] for place in keep], [metadata[place] for place in keep]


def without(rows: Rows, failures: dict[int, Failure]) -> Rows:
    """The rows that did not fail."""
    if not failures:
        return rows
    keep = [place for place in range(len(rows)) if place not in failures]
    return Rows(
        positions=[rows.positions[place] for place in keep],
        ids=[rows.ids[place] for place in keep],
        samples=[rows.samples[place] for place in keep],
        answers=None if rows.answers is None else [rows.answers[place] for place in keep],
        traces=None if rows.traces is None else [rows.traces[place] for place in keep],
    )


def _sample_columns(solved: Solved) -> evidence.SampleColumns:
    rows = solved.rows
    outputs: Sequence[str | None] = [None] * len(rows) if rows.answers is None else rows.answers
    if solved.failures:
        outputs = [None if place in solved.failures else text for place, text in enumerate(outputs)]
    traces: Sequence[str | None] = [None] * len(rows)
    if rows.traces is not None:
        traces = [orjson.dumps(trace.items).decode() for trace in rows.traces]
    return evidence.SampleColumns(
        positions=rows.positions,
        ids=rows.ids,
        trials=[0] * len(rows),
        inputs=solved.inputs,
        outputs=outputs,
        traces=traces,
    )
