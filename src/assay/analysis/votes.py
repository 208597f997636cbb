"""Read tables of votes and labels into ballots."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from assay.analysis.agreement import CORRELATIONS
from assay.analysis.scale import ABSENT, Scale, ScaleKind, Votes, agreed_truth
from assay.errors import Problem, SpecError
from assay.interop.table_file import Refused, read_table, read_texts
from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.option_key import option_key
from assay.judging.outcome import value_names
from assay.judging.rubric import Rubric
from assay.judging.vote_record import VoteRecord, call_of_record
from assay.spec.nearest import listing, nearest
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.correlation import correlation
from assay.stats.errors_between import errors_between
from assay.stats.random import generator
from assay.types import MetricValue

ONLY = "label"
"""The name of a criterion in a table that names none."""
SOMEBODY = "truth"
"""The name of an annotator in a table that names none."""

LabelsByRow = dict[str, str | None]
"""The labels of one rater by row; None is an abstention."""


@dataclass(slots=True)
class Ballot:
    """The votes on one criterion while they are read; `rows` maps each row to its item.

    `numbers` are the panel's numbers before snapping to an option; `again` holds, by judge and row, what a judge that
    was asked several times said each time.
    """

    name: str
    rows: dict[str, str] = field(default_factory=dict)
    judges: dict[str, LabelsByRow] = field(default_factory=dict)
    panel: LabelsByRow = field(default_factory=dict)
    truth: LabelsByRow = field(default_factory=dict)
    people: dict[str, LabelsByRow] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    abstaining: set[str] = field(default_factory=set)
    binary: bool = False
    numbers: dict[str, float] = field(default_factory=dict)
    again: dict[str, dict[str, dict[int, str]]] = field(default_factory=dict)

    def votes(self, scale: Scale) -> Votes:
        """The votes as codes on a scale; a SpecError names a label that is not on it."""
        places = {row: place for place, row in enumerate(self.rows)}
        numbers = {item: number for number, item in enumerate(dict.fromkeys(self.rows.values()))}

        # Votes are many and labels few: each label is looked up once.
        code_of: dict[str | None, int] = {}

        def coded(labels: LabelsByRow) -> IntArray:
            codes = np.full(len(places), ABSENT, dtype=np.int64)
            for row, label in labels.items():
                if label not in code_of:
                    try:
                        code_of[label] = scale.code(label)
                    except ValueError as error:
                        raise SpecError(f'criterion "{self.name}", item {self.rows[row]}: {error}') from None
                codes[places[row]] = code_of[label]
            return codes

        people = {name: coded(labels) for name, labels in self.people.items()}
        truth = coded(self.truth)
        panel_values = np.array([self.numbers.get(row, np.nan) for row in self.rows], dtype=np.float64)
        return Votes(
            name=self.name,
            scale=scale,
            items=np.array([numbers[item] for item in self.rows.values()], dtype=np.int64),
            judges={name: coded(labels) for name, labels in self.judges.items()},
            truth=np.where(truth == ABSENT, agreed_truth(people, scale, len(places)), truth),
            panel=coded(self.panel) if self.panel else None,
            panel_values=panel_values if self.numbers else None,
            people=people if len(people) > 1 else {},
            rows=tuple(self.rows.items()),
            repeats=self._repeats(scale),
        )

    def hear(self, judge: str, row: str, label: str | None, *, repeat: int = 0) -> None:
        """Add a judge's vote; of several calls, the first answered one counts."""
        labels = self.judges.setdefault(judge, {})
        if labels.get(row) is None:
            labels[row] = label
        if label is not None:
            self.again.setdefault(judge, {}).setdefault(row, {}).setdefault(repeat, label)

    def hear_all(self, row: str, votes: Iterable[VoteRecord]) -> None:
        """Take the votes on one row as a run stores them; failed calls leave their judge without one."""
        for vote in sorted(votes, key=call_of_record):
            judge, repeat = vote["judge_id"], int(vote.get("repeat", 0))
            self.judges.setdefault(judge, {})
            if vote.get("error") is not None:
                continue
            if "verdict" in vote:
                self.binary = True
                word = vote["verdict"]
                self.hear(judge, row, None if word == CriterionVerdict.CANNOT_ASSESS else word, repeat=repeat)
                continue
            label = vote.get("selected_label")
            if vote.get("na") or label is None:
                self.abstaining |= set() if label is None else {label}
                self.hear(judge, row, None, repeat=repeat)
            else:
                self.values[label] = float(vote.get("value", 0.0))
                self.hear(judge, row, label, repeat=repeat)

    def _repeats(self, scale: Scale) -> dict[str, FloatArray]:
        """The values of judges that were asked several times: one row per vote row, one column per repeat."""
        tables: dict[str, FloatArray] = {}
        for judge, by_row in self.again.items():
            times = 1 + max(repeat for labels in by_row.values() for repeat in labels)
            if times == 1:
                continue
            table = np.full((len(self.rows), times), np.nan)
            for place, row in enumerate(self.rows):
                for repeat, label in by_row.get(row, {}).items():
                    code = scale.code(label)
                    table[place, repeat] = np.nan if code < 0 else scale.numbers()[code]
            tables[judge] = table
        return tables

    def labels(self) -> list[str]:
        """Return the options that occur, each in its first spelling, in order; numbers in numeric order.

        Labels that differ in case only, or are equal numbers, are one option.
        """
        columns = (*self.judges.values(), *self.people.values(), self.panel, self.truth)
        occurring = {label for column in columns for label in column.values() if label is not None}
        occurring |= {label for rows in self.again.values() for times in rows.values() for label in times.values()}
        occurring -= self.abstaining
        options: dict[str, str] = {}
        # "1" before "1.0" and "YES" before "yes", whatever order the votes came in
        for label in sorted(occurring, key=lambda label: (len(label), label)):
            options.setdefault(option_key(label), label)
        numbers = [_number(label) for label in options.values()]
        return sorted(options.values(), key=(lambda label: _number(label) or 0.0) if None not in numbers else None)


def _text(value: object) -> str | None:
    """A label as written; an empty cell is an abstention."""
    text = "" if value is None else str(value).strip()
    return text or None


def _needed(row: Mapping[str, Any], name: str) -> str:
    text = _text(row.get(name))
    if text is None:
        raise _Wrong(f'there is no "{name}"')
    return text


class _Wrong(ValueError):
    """The problem of one row, with the nearest valid name."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.suggestion = suggestion


def _take_rows(path: Path, columns: Sequence[str], take: Callable[[Mapping[str, Any]], None]) -> None:
    """Take every row of a table; a SpecError with all that is wrong with them, each at its line."""
    refused = Refused(path)
    for number, row in enumerate(read_table(path, columns), start=1):
        try:
            take(row)
        except _Wrong as wrong:
            refused.add(number, str(wrong), wrong.suggestion)
    refused.check()


def ballots_from_table(path: Path, truth: str | None = None) -> list[Ballot]:
    """Read ballots from the columns item, judge, label and optionally criterion; `truth` names the reference judge."""
    by_criterion: dict[str, Ballot] = {}
    refused = Refused(path)
    # Votes are many, names few: each name is stripped, and each ballot looked up, once.
    items: dict[str, str] = {}
    ballots: dict[tuple[str, str], tuple[Ballot, LabelsByRow]] = {}
    for number, (raw_item, raw_judge, label, criterion) in enumerate(
        read_texts(path, ("item", "judge", "label"), ("criterion",)), start=1
    ):
        item, judge = items.get(raw_item) or items.setdefault(raw_item, raw_item.strip()), raw_judge.strip()
        if not item or not judge:
            refused.add(number, f'there is no "{"judge" if item else "item"}"')
            continue
        if (criterion, judge) not in ballots:
            name = criterion.strip() or ONLY
            ballot = by_criterion.setdefault(name, Ballot(name))
            votes = ballot.truth if judge == truth else ballot.judges.setdefault(judge, {})
            ballots[criterion, judge] = ballot, votes
        ballot, votes = ballots[criterion, judge]
        ballot.rows[item] = item
        if item in votes:
            refused.add(number, f'the vote of "{judge}" on "{ballot.name}" of item {item} appears twice')
        else:
            votes[item] = label.strip() or None
    refused.check()
    if truth is not None and not any(ballot.truth for ballot in by_criterion.values()):
        judges = list(dict.fromkeys(judge for ballot in by_criterion.values() for judge in ballot.judges))
        raise SpecError(Problem(message=f'unknown judge "{truth}"', suggestion=nearest(truth, judges)))
    if not by_criterion:
        raise SpecError(f"{path} has no votes")
    return list(by_criterion.values())


def add_labels(ballots: Sequence[Ballot], path: Path, *, failed: Collection[str] = ()) -> list[str]:
    """Add human labels to ballots, from the columns sample_id, label and optionally annotator and criterion.

    Items that nobody voted on because the judge `failed` are told; any other unknown item is a mistake.
    """
    by_name = {ballot.name: ballot for ballot in ballots}
    by_item: dict[str, dict[str, list[str]]] = {}
    for ballot in ballots:
        ballot.truth, ballot.people = {}, {}
        items = by_item.setdefault(ballot.name, {})
        for key, item in ballot.rows.items():
            items.setdefault(item, []).append(key)
    item_names = dict.fromkeys(item for items in by_item.values() for item in items)
    unused: dict[str, None] = {}

    def take(row: Mapping[str, Any]) -> None:
        item, name = _needed(row, "sample_id"), _text(row.get("criterion"))
        ballot_of = _ballot(by_name, name)
        if item not in item_names and item not in failed:
            raise _Wrong(f'unknown item "{item}"', nearest(item, item_names))
        labels = ballot_of.people.setdefault(_text(row.get("annotator")) or SOMEBODY, {})
        rows = by_item[ballot_of.name].get(item, [])
        unused.update({} if rows else {item: None})
        for ballot_row in rows:
            if ballot_row in labels:
                raise _Wrong(f"the label of item {item} appears twice")
            labels[ballot_row] = _text(row["label"])

    _take_rows(path, ("sample_id", "label"), take)
    if not any(labels for ballot in ballots for labels in ballot.people.values()):
        raise SpecError(f"{path} has no label of an item that was judged")
    return [f"{len(unused):,} labelled items have no vote: {listing(unused)}"] if unused else []


def _ballot(by_name: Mapping[str, Ballot], name: str | None) -> Ballot:
    if name is None and len(by_name) == 1:
        return next(iter(by_name.values()))
    if name is None:
        raise _Wrong(f'there is no "criterion", but there are {len(by_name)}: {", ".join(by_name)}')
    if name not in by_name:
        raise _Wrong(f'unknown criterion "{name}"', nearest(name, list(by_name)))
    return by_name[name]


def score_errors(
    rows: Sequence[tuple[str, float, float]],
    judge: str,
    *,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, MetricValue]:
    """Compute bias, MAE, RMSE and correlations of scores with the ground truth; `bounds` is the range of scores."""
    numbers = {item: place for place, item in enumerate(dict.fromkeys(item for item, _, _ in rows))}
    items = np.array([numbers[item] for item, _, _ in rows], dtype=np.int64)
    predicted, truth = (np.array([row[side] for row in rows], dtype=np.float64) for side in (1, 2))
    rng = generator(seed, f"agreement/score/{judge}")
    errors = errors_between(predicted, truth, items, rng=rng, bounds=bounds, level=level)
    values = {"bias": errors.bias, "mae": errors.mae, "rmse": errors.rmse}
    return values | {name: correlation(predicted, truth, name, items, level=level) for name in CORRELATIONS}


def scales_of(rubric: Rubric) -> dict[str, Scale]:
    """The scale of every criterion by its name."""
    return dict(zip(value_names(rubric), map(Scale.of, rubric.criteria), strict=True))


def scales_from_file(path: Path) -> dict[str, Scale]:
    """The scale of every criterion that a rubric file declares."""
    return scales_of(Rubric.from_file(path))


def scale_from_votes(ballot: Ballot, kind: ScaleKind | None = None) -> Scale:
    """A scale of the labels that occur: their values where the votes have them, or the numbers that they are."""
    if ballot.binary:
        return Scale.of(Criterion(requirement=ballot.name))
    labels = ballot.labels()
    abstaining = frozenset(option_key(label) for label in (*ballot.abstaining, "CANNOT_ASSESS"))
    labels = [label for label in labels if option_key(label) not in abstaining]
    values = _values(ballot, labels, kind)
    if kind is None:
        kind = "nominal" if values is None or len(set(values)) < len(values) else "ordinal"
    return Scale(kind=kind, labels=tuple(labels), values=values, abstaining=abstaining)


def _values(ballot: Ballot, labels: Sequence[str], kind: ScaleKind | None) -> tuple[float, ...] | None:
    if ballot.values:
        by_option = {option_key(label): value for label, value in ballot.values.items()}
        values = [by_option.get(option_key(label)) for label in labels]
        return None if None in values else tuple(value for value in values if value is not None)
    if kind != "ordinal":
        return None
    numbers = [_number(label) for label in labels]
    if None in numbers:
        wrong = next(label for label in labels if _number(label) is None)
        message = f'criterion "{ballot.name}": an ordinal scale needs numbers as labels, not "{wrong}"'
        raise SpecError(f"{message}; --rubric FILE gives labels their values")
    return tuple(number for number in numbers if number is not None)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
