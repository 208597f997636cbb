"""The votes on one criterion: its scale, the votes as codes on it, and the majority of the human labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from assay.judging.criteria import Criterion
from assay.judging.option_key import option_key
from assay.results.agreement import PANEL
from assay.stats.abstention import assessed
from assay.stats.classification import Pairs
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.random import generator
from assay.stats.ratings import MISSING, Ratings

ABSENT = -2
"""The code of a missing vote: no row, a failed call, or an unreadable reply."""
ScaleKind = Literal["binary", "ordinal", "nominal"]
MOST_RATERS = 10
"""Up to so many raters every pair of them has an interval; beyond, on request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The declared options of a criterion, without those that abstain; `values` None where labels are just names."""

    kind: ScaleKind
    labels: tuple[str, ...]
    values: tuple[float, ...] | None = None
    abstaining: frozenset[str] = frozenset()

    @classmethod
    def of(cls, criterion: Criterion) -> Scale:
        """The scale that a rubric declares.

        >>> Scale.of(Criterion(requirement="Polite")).labels
        ('UNMET', 'MET')
        """
        if criterion.is_binary:
            return cls(
                kind="binary", labels=("UNMET", "MET"), values=(0.0, 1.0), abstaining=frozenset({"cannot_assess"})
            )
        judged = [option for option in criterion.choices if not option.na]
        gone = {option_key(option.label) for option in criterion.choices if option.na}
        return cls(
            kind=criterion.scale_type,
            labels=tuple(option.label for option in judged),
            values=tuple(option.value for option in judged),
            abstaining=frozenset({*gone, "cannot_assess"}),
        )

    def code(self, label: str | None) -> int:
        """Return the index of a label, -1 for an abstention; a ValueError lists the valid labels."""
        if label is None:
            return MISSING
        key = option_key(label)
        for place, declared in enumerate(self.labels):
            if option_key(declared) == key:
                return place
        if key in self.abstaining:
            return MISSING
        raise ValueError(f'"{label}" is not one of the labels {", ".join(self.labels)}')

    def numbers(self) -> FloatArray:
        """Return a number per option; for nominal labels the numbers have no meaning."""
        return np.asarray(range(len(self.labels)) if self.values is None else self.values, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """The votes on one criterion, one code per row: the position of an option, -1 an abstention, -2 nothing.

    `items` says which rows are of one item, `rows` how each row and its item are called. `panel_values` are the panel's
    numbers before snapping to an option, NaN where there is none. `repeats` holds the values of a judge that was asked
    several times: one row per vote row, one column per repeat.
    """

    name: str
    scale: Scale
    items: IntArray
    judges: Mapping[str, IntArray]
    truth: IntArray
    panel: IntArray | None = None
    panel_values: FloatArray | None = None
    people: Mapping[str, IntArray] = field(default_factory=dict)
    rows: tuple[tuple[str, str], ...] = ()
    repeats: Mapping[str, FloatArray] = field(default_factory=dict)

    def raters(self) -> dict[str, IntArray]:
        """Return the panel, if there is one, and every judge."""
        return {**({} if self.panel is None else {PANEL: self.panel}), **self.judges}

    def pairs(self, codes: IntArray) -> Pairs:
        """Return a rater's codes with the ground truth, where neither is missing or an abstention."""
        rows = (self.truth != ABSENT) & (codes != ABSENT)
        return assessed(self.truth[rows], codes[rows], len(self.scale.labels), self.items[rows])

    def values_of(self, codes: IntArray) -> FloatArray:
        """The values of the options that a rater chose, NaN where it chose none."""
        if not self.scale.labels:
            return np.full(len(codes), np.nan)
        return np.where(codes >= 0, self.scale.numbers()[np.maximum(codes, 0)], np.nan)

    def ratings(self, codes: Mapping[str, IntArray]) -> Ratings:
        """Several raters side by side."""
        columns = [np.maximum(column, MISSING) for column in codes.values()]
        table = np.column_stack(columns) if columns else np.zeros((len(self.items), 0), dtype=np.int64)
        return Ratings(codes=table, values=self.scale.numbers(), clusters=self.items)


def agreed_truth(people: Mapping[str, IntArray], scale: Scale, rows: int) -> IntArray:
    """Return the majority label of each row: none for a tie, an abstention if all annotators abstained.

    >>> scale = Scale(kind="nominal", labels=("a", "b"))
    >>> agreed_truth({"x": np.array([0, 0, -1]), "y": np.array([0, 1, -1])}, scale, 3).tolist()
    [0, -2, -1]
    """
    if not people:
        return np.full(rows, ABSENT, dtype=np.int64)
    table = np.column_stack(list(people.values()))
    most = Ratings(codes=np.maximum(table, MISSING), values=scale.numbers()).majority()
    nobody = table.max(axis=1) < 0
    spoke = (table == MISSING).any(axis=1)
    return np.where(most >= 0, most, np.where(nobody & spoke, MISSING, ABSENT))


@dataclass(frozen=True, slots=True)
class Intervals:
    """The common settings of all intervals: their seed and level."""

    seed: int = 0
    level: float = 0.95
    of_pairs: bool = False
    """Compute intervals for every pair of raters, however many there are."""

    def covers_pairs(self, raters: int) -> bool:
        """Return whether pairs, and the panel without each rater, get intervals; their cost grows with the pairs."""
        return self.of_pairs or raters <= MOST_RATERS

    def rng(self, *address: str) -> np.random.Generator:
        return generator(self.seed, "/".join(("agreement", *address)))
