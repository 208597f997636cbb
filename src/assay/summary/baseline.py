"""What a metric must beat, read from the stored scores where its kind says how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from assay.registry import ScoredRun
from assay.spec import LoadedMetric, LoadedScorer
from assay.store import sample_rows as evidence
from assay.summary.inputs import MetricInputs
from assay.summary.trials import chance_over_trials, rule_of
from assay.types import MetricResult


def with_baseline(
    basis: MetricInputs, slot: int, scorer: LoadedScorer, metric: LoadedMetric, result: MetricResult
) -> MetricResult:
    """The result with the metric's baselines in its details; as it is where the metric has none."""
    if metric.kind.baseline is None:
        return result
    scored = ScoredRun(
        result=result,
        metadata_fields=scorer.kind.metadata,
        distinct_metadata=partial(_distinct_metadata, basis, slot),
        **_over_trials(basis, metric),
    )
    baseline = metric.kind.baseline(metric.settings, scored)
    return result if baseline is None else replace(result, detail={**result.detail, "baseline": baseline})


def _over_trials(basis: MetricInputs, metric: LoadedMetric) -> dict[str, Any]:
    """Which score a metric's field comes from, and what chance becomes when trials become one value."""
    rule = rule_of(getattr(metric.settings, "field", ""), basis.trials)
    if rule is None:
        return {}
    return {"score_field": rule.score_name, "chance_over_trials": chance_over_trials(rule, basis.trials)}


def _distinct_metadata(basis: MetricInputs, slot: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The metadata of a scorer's scores, each distinct one parsed once, with the number of samples that have it."""
    texts: Counter[str] = Counter()
    for page in evidence.score_pages(basis.store, basis.rows_of, slot, metadata=True, inputs=False):
        texts.update(
            text
            for position, text in zip(page.positions, page.metadata, strict=True)
            if text is not None and position not in basis.without
        )
    for text, n in texts.items():
        yield orjson.loads(text), n
