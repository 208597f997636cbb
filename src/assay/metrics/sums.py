"""Metrics that are functions of sums over samples: how one sample contributes, and how two runs are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.metrics.columns import as_number
from assay.registry import PerSampleSums
from assay.stats.additive_stats import too_many
from assay.stats.bayes import pseudo_amount
from assay.stats.classification import Marginals, Statistic
from assay.stats.clusters import FloatArray, IntArray
from assay.stats.paired_sums import SumPair, pseudo_table_pair

Answers = tuple[str, str]
Unmatched = Callable[[Answers], str]


def class_sums(
    truth: str,
    predicted: str,
    statistics: Callable[[Sequence[str]], Mapping[str, Statistic]],
    *,
    labels: Sequence[str] | None = None,
    unmatched: Unmatched | None = None,
) -> PerSampleSums:
    """Describe metrics of a confusion table: a sample adds its true and its predicted class.

    `statistics` gives the metric's values by name for the classes that occur. With `labels` a sample with any other
    text is excluded, unless `unmatched` gives the class that stands for its prediction.
    """
    declared = None if labels is None else [str(label) for label in labels]

    def read(score: Mapping[str, Any]) -> Answers | None:
        if score.get(truth) is None or score.get(predicted) is None:
            return None
        pair = str(score[truth]), str(score[predicted])
        if declared is None or set(declared).issuperset(pair):
            return pair
        return None if unmatched is None or pair[0] not in declared else (pair[0], unmatched(pair))

    def compare(
        name: str, before: Sequence[Answers], after: Sequence[Answers], counts: IntArray | None = None
    ) -> SumPair:
        names = declared or sorted({text for pair in (*before, *after) for text in pair})
        code = {text: position for position, text in enumerate(names)}
        # The true class may differ between runs, for instance where the ground truth is itself a model's answer.
        triples = [(code[a[0]], code[a[1]], code[b[0]], code[b[1]]) for a, b in zip(before, after, strict=True)]
        distinct, codes = np.unique(np.array(triples, dtype=np.int64), axis=0, return_inverse=True)
        one, classes, statistic = np.eye(len(names)), len(names), statistics(names)[name]

        def rows(true: Any, side: Any) -> FloatArray:
            return np.concatenate([one[true] * (true == side)[:, None], one[true], one[side]], axis=1)

        def value(sums: FloatArray) -> FloatArray:
            hits, truths, predictions = np.split(sums, 3, axis=-1)
            return statistic(Marginals(hits=hits, truth=truths, predicted=predictions))

        return SumPair(
            before=rows(distinct[:, 0], distinct[:, 1]),
            after=rows(distinct[:, 2], distinct[:, 3]),
            codes=codes.reshape(-1),
            value=value,
            pseudo=lambda draws, rng: pseudo_table_pair(draws, classes, pseudo_amount(classes), rng),
            undefined="in one of the runs it is undefined over the samples that both have",
            unbounded="only one class" if classes < 2 else too_many(classes),
        )

    return PerSampleSums(
        fields=(truth, predicted), read=read, compare=compare, shown=lambda pair: float(pair[0] == pair[1])
    )


def count_sums(fields: Sequence[str], value: Callable[[FloatArray], FloatArray]) -> PerSampleSums:
    """Describe a metric of counts of true positives, false positives and false negatives summed over samples.

    `fields` name the counts, in this order and as far as the metric has them; `value` takes sums in the same order.
    """
    names = [str(field) for field in fields]

    def read(score: Mapping[str, Any]) -> tuple[float, ...] | None:
        numbers = [as_number(score.get(name)) for name in names]
        return None if None in numbers else tuple(number for number in numbers if number is not None)

    def compare(
        _: str,
        before: Sequence[tuple[float, ...]],
        after: Sequence[tuple[float, ...]],
        counts: IntArray | None = None,
    ) -> SumPair:
        sides = np.concatenate([np.array(before, dtype=np.float64), np.array(after, dtype=np.float64)], axis=1)
        distinct, codes = np.unique(sides, axis=0, return_inverse=True)
        width = len(names)
        # A pseudo-item counts as much as the mean sample does.
        weights = np.ones(len(sides), dtype=np.int64) if counts is None else counts
        size = float(weights @ sides.sum(axis=1)) / (2 * int(weights.sum())) if len(sides) else 1.0

        def pseudo(draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
            first, second = (
                np.stack([table[:, 1], table[:, 5] - table[:, 1], table[:, 3] - table[:, 1]], axis=1)[:, :width] * size
                for table in pseudo_table_pair(draws, 2, pseudo_amount(2), rng)
            )
            return first, second

        return SumPair(
            before=distinct[:, :width],
            after=distinct[:, width:],
            codes=codes.reshape(-1),
            value=value,
            pseudo=pseudo,
            undefined="in one of the runs it is undefined over the samples that both have",
        )

    def shown(counts: tuple[float, ...]) -> float | None:
        number = float(value(np.array(counts)))
        return None if np.isnan(number) else number

    return PerSampleSums(fields=tuple(names), read=read, compare=compare, shown=shown)


def share(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide sums; NaN if the denominator is 0.

    >>> share(np.array([1.0]), np.array([4.0])).tolist()
    [0.25]
    """
    top, bottom = np.asarray(top), np.asarray(bottom)
    return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)
