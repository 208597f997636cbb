"""The human ceiling: how well people agree with each other, and how a judge compares.

Calderon, N., Reichart, R. and Dror, R. (2025), The alternative annotator test for LLM-as-a-judge: could the
judge stand in for one of the people, as seen by the others?
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats import interval
from assay.stats.clusters import Clusters, FloatArray, IntArray
from assay.stats.kappa import Weighting, distances
from assay.stats.ratings import MISSING, Ratings
from assay.types import MetricValue

NOBODY = "no item was rated by two people and the judge"
# Means of shares that differ by less are equal.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One annotator and the judge, both measured against the other annotators, and judge less annotator."""

    human: MetricValue
    judge: MetricValue
    difference: MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """The agreement of people and of the judge with the other people, and the people it matches or beats."""

    ceiling: MetricValue
    judge: MetricValue
    matched: MetricValue
    people: tuple[Person, ...]


def human_ceiling(
    people: Ratings,
    judge: IntArray,
    weighting: Weighting = "none",
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> HumanCeiling:
    """Measure each annotator, and the judge in their place, against the other annotators.

    On an item, an annotator's agreement is the share of the other annotators who gave the same option; with a
    weighting, the mean of 1 - distance by option value. The judge's is taken against the same others, on the
    items that this annotator, the judge (-1 where it abstained) and at least one of the others rated.
    `ceiling` and `judge` pool these over annotators, clustered by item. The judge matches or beats an
    annotator if its mean is not lower; `matched` is the share of such annotators, whose interval speaks of
    more people like these. No majority is taken, so that there are no ties to break.

    >>> people = Ratings.of([[1, 1, 1], [2, 2, 1], [1, 2, 2], [2, 2, 2]])
    >>> agreement = human_ceiling(people, np.array([0, 1, 1, 1]), rng=np.random.default_rng(1))
    >>> round(agreement.ceiling.value, 3), round(agreement.judge.value, 3), agreement.matched.value
    (0.667, 0.833, 1.0)
    """
    alike = 1 - distances(people.values, weighting)
    ids = np.arange(len(people.codes)) if people.clusters is None else people.clusters
    sides = [_against_others(people, judge, place, alike) for place in range(people.raters)]
    clusters = [ids[side.items] for side in sides]
    measured = tuple(
        _person(side, person_clusters, rng, level) for side, person_clusters in zip(sides, clusters, strict=True)
    )
    differences = np.array([person.difference.value for person in measured if person.difference.value is not None])
    pooled = np.concatenate([np.zeros(0, dtype=np.int64), *clusters])
    return HumanCeiling(
        ceiling=_share(np.concatenate([np.zeros(0), *(side.human for side in sides)]), pooled, level),
        judge=_share(np.concatenate([np.zeros(0), *(side.judge for side in sides)]), pooled, level),
        matched=_share((differences >= -ROUNDING).astype(np.float64), None, level),
        people=measured,
    )


@dataclass(frozen=True, slots=True)
class _Sides:
    """Agreement with the other annotators, of one of them and of the judge, on the items that both rated."""

    items: IntArray
    human: FloatArray
    judge: FloatArray


def _against_others(people: Ratings, judge: IntArray, place: int, alike: FloatArray) -> _Sides:
    ratings = people.codes[:, place]
    others = people.without(place).counts()
    size = others.sum(axis=1)
    items = np.flatnonzero((ratings != MISSING) & (judge != MISSING) & (size > 0))
    agreement = (others[items] @ alike) / size[items, None]
    at = np.arange(len(items))
    return _Sides(items, agreement[at, ratings[items]], agreement[at, judge[items]])


def _person(side: _Sides, clusters: Clusters, rng: np.random.Generator, level: float) -> Person:
    difference = interval.mean(side.judge - side.human, clusters, rng=rng, bounds=(-1, 1), level=level)
    return Person(
        human=_share(side.human, clusters, level), judge=_share(side.judge, clusters, level), difference=difference
    )


def _share(values: FloatArray, clusters: Clusters, level: float) -> MetricValue:
    return interval.ratio(values, np.ones(len(values)), clusters, level=level, undefined=NOBODY)
