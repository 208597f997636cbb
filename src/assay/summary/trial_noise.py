"""The variation of a mean from asking again alone, estimated from the trials of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import orjson

from assay.results.document import value_document
from assay.spec import LoadedMetric, LoadedScorer
from assay.stats.clusters import FloatArray
from assay.stats.noise import noise_floor
from assay.stats.random import generator
from assay.store import sample_rows as evidence
from assay.summary.inputs import MetricInputs
from assay.summary.trials import rule_of
from assay.types import MetricResult


def with_noise(
    basis: MetricInputs, slot: int, scorer: LoadedScorer, metric: LoadedMetric, result: MetricResult
) -> MetricResult:
    """The result with the noise floor in its details, where it is the mean of a field over several trials.

    Beside it stands the smallest difference that two runs of the same model over the same samples show by luck.
    """
    trials, per_sample = basis.trials, metric.per_sample
    if trials is None or per_sample is None or not per_sample.is_field or per_sample.macro_by is not None:
        return result
    rule = rule_of(per_sample.fields[0], trials)
    if rule is not None and rule.aggregator.function != "mean":
        return result
    field = per_sample.fields[0] if rule is None else rule.score_name
    noise = noise_floor(
        _table(basis, slot, field, trials.num_trials),
        rng=generator(basis.seed, f"{scorer.key}/{metric.key}/noise"),
        bounds=scorer.ranges.get(field),
    )
    detail: dict[str, Any] = {
        "floor": value_document(noise.floor),
        "difference_by_luck": value_document(noise.difference),
    }
    return replace(result, detail={**result.detail, "noise": detail})


def _table(basis: MetricInputs, slot: int, field: str, times: int) -> FloatArray:
    """The values of a field, one row per sample and one column per trial, NaN where a trial has none.

    Of a sample that became several rows each row by its number is one.
    """
    layout = basis.layout
    rows: dict[int, dict[int, float]] = {}
    for position, value in _values(basis, slot, field):
        rows.setdefault(layout.sample_row(position), {})[layout.trial(position)] = value
    table = np.full((len(rows), times), np.nan)
    for place, by_trial in enumerate(rows.values()):
        for trial, value in by_trial.items():
            table[place, trial] = value
    return table


def _values(basis: MetricInputs, slot: int, field: str) -> Iterator[tuple[int, float]]:
    for page in evidence.score_pages(basis.store, basis.rows_of, slot, metadata=False, inputs=False):
        for position, text in zip(page.positions, page.values, strict=True):
            value = orjson.loads(text).get(field)
            if position not in basis.without and isinstance(value, int | float):
                yield position, float(value)
