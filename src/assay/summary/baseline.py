"""What an accuracy must beat: guessing, and saying the most frequent class every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from assay.spec import LoadedMetric, LoadedScorer
from assay.store import sample_rows as evidence
from assay.summary.inputs import MetricInputs
from assay.types import MetricResult

CHOICES, TRUTH = "choices", "ground_truth_choice"
"""The metadata of a scorer that says of every sample what there was to choose from, and what is right."""
BINARY = "binary-classification"
MULTICLASS = "multiclass-classification"


def with_baseline(
    basis: MetricInputs, slot: int, scorer: LoadedScorer, metric: LoadedMetric, result: MetricResult
) -> MetricResult:
    """The result with the baselines of its accuracy in its details; as it is where it has none."""
    if metric.kind.name in (BINARY, MULTICLASS):
        found = _of_classes(_support(metric.kind.name, result.detail), metric)
    elif metric.kind.name == "mean" and _chooses(scorer, str(getattr(metric.settings, "field", ""))):
        found = _of_choices(basis, slot)
    else:
        found = None
    return result if found is None else replace(result, detail={**result.detail, "baseline": found})


def baselines(choices: Mapping[int, int], truths: Mapping[str, int]) -> dict[str, Any] | None:
    """Chance, the mean of 1 / number of choices, and the share of the most frequent class; None without samples.

    `choices` counts the samples by how many there were to choose from, `truths` by the right one.

    >>> baselines({4: 3, 2: 1}, {"A": 3, "B": 1})
    {'chance': 0.3125, 'majority': 0.75, 'majority_class': 'A'}
    """
    n = sum(truths.values())
    if not n:
        return None
    # of equally frequent classes the first by name, so that the same data give the same words
    label, most = min(truths.items(), key=lambda entry: (-entry[1], entry[0]))
    chance = sum(samples / size for size, samples in choices.items()) / n
    return {"chance": chance, "majority": most / n, "majority_class": label}


def _support(kind: str, detail: Mapping[str, Any]) -> Mapping[str, int]:
    """How many samples are truly of each class."""
    if kind == MULTICLASS:
        return dict(detail["support"])
    counts = detail["confusion"]
    return {"positive": counts["tp"] + counts["fn"], "negative": counts["tn"] + counts["fp"]}


def _of_classes(support: Mapping[str, int], metric: LoadedMetric) -> dict[str, Any] | None:
    names = support
    if metric.kind.name == BINARY:
        settings: Any = metric.settings
        names = {
            str(settings.positive_answer): support["positive"],
            str(settings.negative_answer): support["negative"],
        }
    return baselines({len(names): sum(names.values())}, names) if names else None


def _chooses(scorer: LoadedScorer, field: str) -> bool:
    return field == "is_correct" and {CHOICES, TRUTH} <= set(scorer.kind.metadata)


def _of_choices(basis: MetricInputs, slot: int) -> dict[str, Any] | None:
    written: Counter[str] = Counter()
    for page in evidence.score_pages(basis.store, basis.rows_of, slot, metadata=True, inputs=False):
        written.update(
            text
            for position, text in zip(page.positions, page.metadata, strict=True)
            if text is not None and position not in basis.without
        )
    choices: Counter[int] = Counter()
    truths: Counter[str] = Counter()
    for text, n in written.items():
        said = orjson.loads(text)
        choices[len(said[CHOICES])] += n
        truths[str(said[TRUTH])] += n
    return baselines(choices, truths)
