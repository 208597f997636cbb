"""The mean of a function of one value: a plug-in metric that can be compared like `mean`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.metrics.columns import Numbers, Texts, as_number, numbers, texts
from assay.metrics.context import Context
from assay.metrics.table import IntArray, Table
from assay.registry import Bounds, PerSample
from assay.stats import interval
from assay.types import MetricResult


@dataclass(frozen=True, slots=True)
class SampleFunction:
    """A function of the value that one sample has in a field; its other parameters are settings of the metric.

    It takes numbers, or with `text` the value as text. A sample for which it gives None, raises, or leaves the
    bounds is excluded.
    """

    function: Callable[..., Any]
    text: bool = False
    bounds: Bounds | None = None

    def mean(self, settings: Any, table: Table, context: Context) -> MetricResult:
        """Compute the mean over the samples with its interval; the detail includes the function's first error."""
        name = settings.value_name(settings.type)
        rows, values, codes = self._distinct(table, settings.field)
        results = list(map(self._with_settings(settings), values))
        errors = [result for result in results if isinstance(result, str)]
        per_value = np.array([result if isinstance(result, float) else math.nan for result in results])
        column = per_value[codes]
        present = np.isfinite(column)
        clusters, counts = (part if part is None else part[present] for part in (rows.clusters, rows.counts))
        value = interval.mean(
            column[present],
            clusters,
            counts=counts,
            rng=context.random(name),
            bounds=self.bounds,
            level=context.level,
        )
        if value.value is None and errors:
            value = replace(value, reason=errors[0])
        n_excluded = int((~present).sum() if rows.counts is None else rows.counts[~present].sum())
        return MetricResult(
            values={name: value},
            detail={"error": errors[0]} if errors else {},
            n_excluded=rows.n_excluded + n_excluded,
        )

    def per_sample(self, settings: Any) -> PerSample:
        """Apply the function to a score's value of the field."""
        field, number_of = str(settings.field), self._with_settings(settings)

        def read(score: Mapping[str, Any]) -> float | None:
            stored = score.get(field)
            value = stored if stored is None else str(stored) if self.text else as_number(stored)
            result = None if value is None else number_of(value)
            return result if isinstance(result, float) else None

        return PerSample(fields=(field,), read=read, bounds=self.bounds)

    def _distinct(self, table: Table, field: str) -> tuple[Numbers | Texts, Sequence[Any], IntArray]:
        """Return the rows that have a value, their distinct values, and the index of each row's value among them."""
        if self.text:
            named = texts(table, field)
            return named, named.names, named.codes
        rows = numbers(table, field)
        distinct, codes = np.unique(rows.columns[0], return_inverse=True)
        return rows, distinct.tolist(), codes

    def _with_settings(self, settings: Any) -> Callable[[Any], float | str | None]:
        """Return the function's result for a value, None without one, or the error message."""
        first, *others = inspect.signature(self.function).parameters
        arguments = {name: getattr(settings, name) for name in others}

        def number_of(value: Any) -> float | str | None:
            try:
                result = self.function(**{first: value}, **arguments)
                return None if result is None else number_in_range(settings.type, result, self.bounds)
            # the boundary to foreign code: whatever goes wrong in it excludes the samples with this value
            except Exception as error:
                return f"{type(error).__name__}: {error}"

        return number_of


def number_in_range(name: str, value: Any, bounds: Bounds | None) -> float:
    """Return a finite number inside the bounds; a ValueError explains any other."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f'the value "{name}" is {number}')
    if bounds is not None and not bounds[0] <= number <= bounds[1]:
        raise ValueError(f'the value "{name}" is {number:g}, outside its range from {bounds[0]:g} to {bounds[1]:g}')
    return number
