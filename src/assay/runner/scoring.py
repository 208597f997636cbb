"""Scores of a solved batch: deterministic scorers run over columns, outcomes of judges join them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.registry import WholeRunScorerKind
from assay.spec import LoadedScorer
from assay.types import Failure, Outcome, Rows, Score, ScoreColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A batch after its solver: every row, and by their positions in the batch those that got no answer.

    `judged` holds the outcomes of scorers that ask a model, by slot, one per row.
    """

    rows: Rows
    inputs: Sequence[str]
    trials: Sequence[int] | None = None
    calls: Sequence[str | None] | None = None
    failures: dict[int, Failure] = field(default_factory=dict)
    judged: Mapping[int, Sequence[Outcome]] = field(default_factory=dict)

    @property
    def answered(self) -> Rows:
        """The rows that got an answer: those that are scored."""
        return without(self.rows, self.failures)

    def only(self, place: int) -> Solved:
        """One row of the batch."""
        return Solved(
            rows=self.rows.pick([place]),
            inputs=[self.inputs[place]],
            trials=None if self.trials is None else [self.trials[place]],
            calls=None if self.calls is None else [self.calls[place]],
            failures={0: self.failures[place]} if place in self.failures else {},
        )


Scored = Mapping[int, ScoreColumns]
"""The scores of a batch by slot; slot 1 is the first scorer."""


ScoreRows = Callable[[Sequence[int], Rows], Scored]
"""Scores rows with the scorers in some slots, in this process or in others."""


def score_batch(scorers: Sequence[LoadedScorer], solved: Solved, score: ScoreRows | None = None) -> Scored:
    """Score every answered row with every scorer that needs no other sample; `score` runs the deterministic ones."""
    # scorers of all samples together come when all are there
    slots = [slot for slot, s in enumerate(scorers, start=1) if not isinstance(s.kind, WholeRunScorerKind)]
    own = [slot for slot in slots if slot not in solved.judged]
    scored = dict(score_rows(scorers, own, solved.answered) if score is None else score(own, solved.answered))
    for slot in solved.judged:
        outcomes = solved.judged[slot]
        scored[slot] = _columns([o for place, o in enumerate(outcomes) if place not in solved.failures])
    return {slot: scored[slot] for slot in slots if slot in scored}


def score_rows(scorers: Sequence[LoadedScorer], slots: Sequence[int], rows: Rows) -> Scored:
    """Score rows whose samples are stored already, with some of the scorers."""
    return {slot: scorers[slot - 1].kind.score(scorers[slot - 1].settings, rows) for slot in slots}


def without(rows: Rows, failures: Mapping[int, Failure]) -> Rows:
    """The rows that did not fail."""
    if not failures:
        return rows
    return rows.pick([place for place in range(len(rows)) if place not in failures])


def _columns(outcomes: Sequence[Outcome]) -> ScoreColumns:
    """Single outcomes as columns; a value that a score lacks is None."""
    scores = [outcome if isinstance(outcome, Score) else None for outcome in outcomes]
    values = _names(score.values for score in scores if score)
    metadata = _names(score.metadata for score in scores if score)
    return ScoreColumns(
        values={name: [score and score.values.get(name) for score in scores] for name in values},
        metadata={name: [score and score.metadata.get(name) for score in scores] for name in metadata},
        failures={place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, Failure)},
        unsettled=frozenset(place for place, score in enumerate(scores) if score and score.unsettled),
    )


def _names(entries: Iterable[Mapping[str, object]]) -> list[str]:
    """The names of all entries, in an order that agrees with each of them, whichever rows happen to be in a batch."""
    shapes = sorted({tuple(entry) for entry in entries}, key=lambda shape: (-len(shape), shape))
    names = list(shapes[0]) if shapes else []
    for shape in shapes[1:]:
        for place, name in enumerate(shape):
            if name not in names:
                following = next((later for later in shape[place + 1 :] if later in names), None)
                names.insert(len(names) if following is None else names.index(following), name)
    return names
