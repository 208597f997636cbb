"""Score a solved batch and commit it: samples, scores, failures and replies in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson
from sqlalchemy import Connection

from assay.registry import WholeRunScorerKind
from assay.runner.encode import RowEncoder
from assay.spec import LoadedScorer
from assay.store import runs
from assay.store import sample_rows as evidence
from assay.store.calls import write_calls
from assay.store.store import Store
from assay.types import Failure, Outcome, PaidCall, Rows, Score, ScoreColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A batch after its solver: every row, and by their places those that got no answer.

    `judged` holds what scorers that ask a model said, by slot, one outcome a row.
    """

    rows: Rows
    inputs: Sequence[str]
    trials: Sequence[int] | None = None
    calls: Sequence[str | None] | None = None
    failures: dict[int, Failure] = field(default_factory=dict)
    judged: Mapping[int, Sequence[Outcome]] = field(default_factory=dict)


class Recorder:
    """Takes solved batches; what it has returned from is durable."""

    def __init__(self, store: Store, run_no: int, scorers: Sequence[LoadedScorer]) -> None:
        self._store = store
        self._run_no = run_no
        self._scorers = scorers
        # scorers of all samples together come when all are there
        self._slots = [
            slot for slot, scorer in enumerate(scorers, start=1) if not isinstance(scorer.kind, WholeRunScorerKind)
        ]
        self._encoders = [(RowEncoder(), RowEncoder()) for _ in scorers]

    def record(self, solved: Solved, *, cursor: int, paid: Sequence[PaidCall] = ()) -> int:
        """Score and commit a batch; says how many failures it holds."""
        answered = without(solved.rows, solved.failures)
        scored = {slot: self._score(slot, solved, answered) for slot in self._slots}
        run_no, rows = self._run_no, solved.rows
        with self._store.begin() as connection:
            if paid:
                write_calls(connection, run_no, paid)
            evidence.write_samples(connection, run_no, _sample_columns(solved))
            failed = [(rows.positions[place], failure) for place, failure in solved.failures.items()]
            evidence.write_failures(connection, run_no, 0, failed)
            for slot, columns in scored.items():
                self._write(connection, slot, answered, columns)
            runs.advance(connection, run_no, cursor)
        return len(solved.failures) + sum(len(columns.failures) for columns in scored.values())

    def rescore(self, rows: Rows, slots: Sequence[int]) -> None:
        """Score rows whose samples are stored already, with some of the scorers."""
        scored = {slot: self._scorers[slot - 1].kind.score(self._scorers[slot - 1].settings, rows) for slot in slots}
        with self._store.begin() as connection:
            for slot, columns in scored.items():
                self._write(connection, slot, rows, columns)

    def _write(self, connection: Connection, slot: int, rows: Rows, columns: ScoreColumns) -> None:
        kept = without(rows, columns.failures)
        values, metadata = self._encode(slot, columns, len(rows))
        evidence.write_scores(connection, self._run_no, slot, kept.positions, values, metadata)
        lost = [(rows.positions[place], failure) for place, failure in columns.failures.items()]
        evidence.write_failures(connection, self._run_no, slot, lost)
        again = [rows.positions[place] for place in sorted(columns.unsettled)]
        evidence.write_unsettled(connection, self._run_no, slot, again)

    def _score(self, slot: int, solved: Solved, answered: Rows) -> ScoreColumns:
        if slot in solved.judged:
            outcomes = solved.judged[slot]
            return _columns([o for place, o in enumerate(outcomes) if place not in solved.failures])
        scorer = self._scorers[slot - 1]
        columns: ScoreColumns = scorer.kind.score(scorer.settings, answered)
        return columns

    def _encode(self, slot: int, columns: ScoreColumns, n: int) -> tuple[list[str], list[str]]:
        for_values, for_metadata = self._encoders[slot - 1]
        values = for_values.encode(columns.values, n)
        metadata = for_metadata.encode(columns.metadata, n)
        if not columns.failures:
            return values, metadata
        keep = [place for place in range(n) if place not in columns.failures]
        return [values[place] for place in keep], [metadata[place] for place in keep]


def without(rows: Rows, failures: Mapping[int, Failure]) -> Rows:
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


def _columns(outcomes: Sequence[Outcome]) -> ScoreColumns:
    """Single outcomes as columns; a value that a score lacks is None."""
    scores = [outcome if isinstance(outcome, Score) else None for outcome in outcomes]
    values = {name: None for score in scores if score for name in score.values}
    metadata = {name: None for score in scores if score for name in score.metadata}
    return ScoreColumns(
        values={name: [score and score.values.get(name) for score in scores] for name in values},
        metadata={name: [score and score.metadata.get(name) for score in scores] for name in metadata},
        failures={place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Failure)},
        unsettled=frozenset(place for place, score in enumerate(scores) if score and score.unsettled),
    )


def _sample_columns(solved: Solved) -> evidence.SampleColumns:
    rows = solved.rows
    n = len(rows)
    outputs: Sequence[str | None] = [None] * n if rows.answers is None else rows.answers
    if solved.failures:
        outputs = [None if place in solved.failures else text for place, text in enumerate(outputs)]
    traces: Sequence[str | None] = [None] * n
    if rows.traces is not None:
        traces = [orjson.dumps(trace.items).decode() if trace.items else None for trace in rows.traces]
    return evidence.SampleColumns(
        positions=rows.positions,
        ids=rows.ids,
        trials=[0] * n if solved.trials is None else solved.trials,
        inputs=solved.inputs,
        outputs=outputs,
        traces=traces,
        calls=[None] * n if solved.calls is None else solved.calls,
    )
