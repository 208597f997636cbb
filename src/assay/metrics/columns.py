"""Shared parts of metrics: the rows that have every value a metric reads, as numbers or as classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import Problem, SpecError
from assay.metrics.table import BoolArray, FloatArray, IntArray, Table
from assay.registry import PerSample
from assay.spec.fields import Located, MetricSpec
from assay.stats.classification import Pairs


class FieldMetric(MetricSpec):
    """The settings of a metric of one field."""

    field: Located
    name: str | None = None

    def value_name(self, suffix: str) -> str:
        """Return the name of the metric's value: the configured one, or `<field>_<suffix>`."""
        return self.name or f"{self.field}_{suffix}"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Columns of numbers without incomplete rows; with `counts`, equal rows are grouped."""

    columns: tuple[FloatArray, ...]
    clusters: IntArray | None
    counts: IntArray | None
    n_excluded: int


@dataclass(frozen=True, slots=True)
class Texts:
    """A column as codes of its sorted texts, without the rows where it is missing."""

    names: tuple[str, ...]
    codes: IntArray
    clusters: IntArray | None
    counts: IntArray | None
    n_excluded: int


@dataclass(frozen=True, slots=True)
class Classes:
    """Truth and prediction as codes of the named classes, without the rows where one is missing.

    `n_unmatched` counts the rows whose prediction was none of the classes and was given one.
    """

    names: tuple[str, ...]
    pairs: Pairs
    n_excluded: int
    n_unmatched: int = 0


def numbers(table: Table, *fields: str) -> Numbers:
    """Return the rows that have a number in each of the fields."""
    rows, counts = table.distinct(*fields)
    columns = [rows.column(field).numbers(field) for field in fields]
    present = np.logical_and.reduce([np.isfinite(column) for column in columns])
    if not present.all():
        columns = [column[present] for column in columns]
    return Numbers(
        columns=tuple(columns),
        clusters=_selected(rows.clusters, present),
        counts=_selected(counts, present),
        n_excluded=_left_out(counts, present),
    )


def texts(table: Table, field: str) -> Texts:
    """The rows that have a value in the field, as text."""
    rows, counts = table.distinct(field)
    codes, names = rows.column(field).texts()
    present = codes >= 0
    return Texts(
        names=names,
        codes=codes[present],
        clusters=_selected(rows.clusters, present),
        counts=_selected(counts, present),
        n_excluded=_left_out(counts, present),
    )


def classes(
    table: Table,
    truth: str,
    predicted: str,
    labels: Sequence[str] | None = None,
    *,
    unmatched: Callable[[IntArray], IntArray] | None = None,
) -> Classes:
    """Truth and prediction as text; with `labels`, rows with any other text are left out.

    `unmatched` gives the class of a prediction that is not one of the labels, from the true classes of the rows. A row
    whose ground truth is not one of the labels is always left out.
    """
    rows, counts = table.distinct(truth, predicted)
    gt_codes, gt_names = rows.column(truth).texts()
    pred_codes, pred_names = rows.column(predicted).texts()
    names = tuple(labels) if labels is not None else tuple(sorted({*gt_names, *pred_names}))
    place = {name: code for code, name in enumerate(names)}
    gt = _renamed(gt_codes, gt_names, place)
    pred = _renamed(pred_codes, pred_names, place)
    n_unmatched = 0
    if unmatched is not None:
        lost = (gt >= 0) & (pred < 0)
        pred[lost] = unmatched(gt[lost])
        n_unmatched = _left_out(counts, ~lost)
    present = (gt >= 0) & (pred >= 0)
    if labels is None and not present.all():
        names, gt, pred = _only_used(names, gt, pred, present)
    pairs = Pairs(gt[present], pred[present], len(names), _selected(rows.clusters, present), _selected(counts, present))
    return Classes(names=names, pairs=pairs, n_excluded=_left_out(counts, present), n_unmatched=n_unmatched)


def _selected(column: IntArray | None, present: BoolArray) -> IntArray | None:
    return None if column is None else column[present]


def _left_out(counts: IntArray | None, present: BoolArray) -> int:
    return int((~present).sum() if counts is None else counts[~present].sum())


def _renamed(codes: IntArray, names: Sequence[str], place: dict[str, int]) -> IntArray:
    return np.array([*(place.get(name, -1) for name in names), -1], dtype=np.int64)[codes]


def _only_used(
    names: tuple[str, ...], gt: IntArray, pred: IntArray, present: BoolArray
) -> tuple[tuple[str, ...], IntArray, IntArray]:
    """Without the classes that occur only in rows that are left out."""
    used = np.unique(np.concatenate([gt[present], pred[present]]))
    place = np.full(len(names) + 1, -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    return tuple(names[code] for code in used.tolist()), place[gt], place[pred]


def as_number(value: object) -> float | None:
    """Convert a value to a finite number, booleans to 1 and 0; None for anything else.

    >>> as_number(True), as_number("1"), as_number(float("nan"))
    (1.0, None, None)
    """
    if isinstance(value, int | float):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def same_text(truth: str, predicted: str, labels: Sequence[str] | None = None) -> PerSample:
    """Return how a sample enters an accuracy: 1.0 if two fields have the same text, else 0.0.

    With `labels`, a sample with any other text is excluded.
    """
    classes_read = None if labels is None else {str(label) for label in labels}

    def read(score: Mapping[str, Any]) -> float | None:
        if score.get(truth) is None or score.get(predicted) is None:
            return None
        pair = str(score[truth]), str(score[predicted])
        if classes_read is not None and not classes_read.issuperset(pair):
            return None
        return 1.0 if pair[0] == pair[1] else 0.0

    return PerSample(fields=(truth, predicted), read=read, value="accuracy", bounds=(0.0, 1.0))


def check(condition: bool, message: str, field: str) -> None:
    """Raise an error at the field's location in the file unless the condition holds."""
    if not condition:
        raise SpecError(Problem(message=message, place=getattr(field, "place", None)))
