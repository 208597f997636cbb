"""Correct a judge with human labels: the judge scores every sample, people label some of them.

Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023), PPI++: efficient prediction-powered inference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from assay.stats import interval
from assay.stats.bootstrap import t_value
from assay.stats.clusters import FEW_CLUSTERS, ONE_CLUSTER, Clusters, FloatArray, cluster_sums
from assay.stats.interval import no_interval, ratio, wilson, z_value
from assay.stats.rogan_gladen import rogan_gladen
from assay.types import Interval, MetricValue

METHOD = "wilson_beta"
LEAST_LABELS = 2
PSEUDO_LABELS = 0.75
"""The mass of each of the two pseudo-labels that contradict the judge; chosen by simulation."""
UNSEEN = 2.0
"""Labels that might have contradicted the judge and did not: with none seen, the judge is not yet known to be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The corrected mean, the judge's own mean, and the mean of the labels alone.

    `trust` is how much of the judge enters, from 0 (labels alone) to 1. `labels_to_halve` is the number of labels
    that would make the interval half as wide, None when no number would.
    """

    estimate: MetricValue
    judge: MetricValue
    labels_only: MetricValue
    trust: float
    n_labelled: int
    n_unlabelled: int
    labels_to_halve: int | None
    rogan_gladen: MetricValue | None = None
    sensitivity: MetricValue | None = None
    specificity: MetricValue | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledScores:
    """Labels and judge scores on the same samples, and the judge's scores on the unlabelled ones.

    `chances` are the recorded chances of a sample to be labelled; None when labels were drawn evenly. `clusters` say
    which samples belong together; None when each stands for itself.
    """

    labels: FloatArray
    judged: FloatArray
    rest: FloatArray
    chances: FloatArray | None = None
    rest_chances: FloatArray | None = None
    clusters: Clusters = None
    rest_clusters: Clusters = None

    def scaled(self, low: float, high: float) -> LabelledScores:
        """The labels and scores on the range from 0 to 1."""
        width = high - low
        labels, judged, rest = ((side - low) / width for side in (self.labels, self.judged, self.rest))
        return replace(self, labels=labels, judged=judged, rest=rest)

    @property
    def all_clusters(self) -> Clusters:
        """The clusters of labelled and other samples together."""
        if self.clusters is None or self.rest_clusters is None:
            return None
        return np.concatenate([self.clusters, self.rest_clusters])

    @property
    def weights(self) -> FloatArray:
        """Return the weight of each label: the inverse of its probability of being drawn."""
        return np.ones_like(self.labels) if self.chances is None else 1 / self.chances

    @property
    def rest_weights(self) -> FloatArray:
        """Return the weight of each undrawn sample: the inverse of its probability of not being drawn."""
        if self.rest_chances is None:
            return np.ones_like(self.rest)
        return 1 / np.maximum(1 - self.rest_chances, 1e-3)


def calibrate(
    scores: LabelledScores,
    *,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    level: float = 0.95,
    rng: np.random.Generator,
) -> Calibrated:
    """Estimate the mean label over all samples from the judge's scores on all and human labels on some.

    `bounds` is the declared range of both; None gives a t interval instead of a score interval.

    >>> labels = np.array([1.0, 0.0, 1.0, 1.0] * 10)
    >>> judged = np.array([1.0, 0.0, 1.0, 0.0] * 10)
    >>> scores = LabelledScores(labels=labels, judged=judged, rest=np.array([1.0, 0.0] * 200))
    >>> calibrated = calibrate(scores, rng=np.random.default_rng(1))
    >>> calibrated.judge.value, round(calibrated.estimate.value, 3), round(calibrated.trust, 2)
    (0.5, 0.75, 0.45)
    """
    low, high = bounds or (0.0, 1.0)
    unit = scores.scaled(low, high)
    every = np.concatenate([scores.judged, scores.rest])
    judge = interval.mean(every, scores.all_clusters, rng=rng, bounds=bounds, level=level)
    n = len(scores.labels)
    if n < LEAST_LABELS:
        nothing = MetricValue(value=None, n=n, reason=f"needs at least {LEAST_LABELS} labels")
        return Calibrated(
            estimate=nothing,
            judge=judge,
            labels_only=nothing,
            trust=0.0,
            n_labelled=n,
            n_unlabelled=len(scores.rest),
            labels_to_halve=None,
        )
    parts = _Parts.of(unit, unseen=UNSEEN if bounds is not None else 0.0)
    estimate = MetricValue(
        value=low + (high - low) * parts.estimate,
        n=n + len(scores.rest),
        interval=_stretched(_estimate_interval(unit, parts, level, bounded=bounds is not None), low, high),
    )
    return Calibrated(
        estimate=estimate,
        judge=judge,
        labels_only=_labels_only(unit, (low, high), level, bounded=bounds is not None),
        trust=parts.trust,
        n_labelled=n,
        n_unlabelled=len(scores.rest),
        labels_to_halve=parts.labels_to_halve(level),
        **_rates(unit, level),
    )


def _estimate_interval(unit: LabelledScores, parts: _Parts, level: float, *, bounded: bool) -> Interval:
    """The score interval or t; in a declared range its hull with a Beta interval that allows for unseen errors."""
    score = parts.interval(level, bounded=bounded)
    if not bounded or not len(unit.rest) or score.low is None or score.high is None:
        return score
    low, high = _beta_bounds(unit, parts, level)
    return replace(score, low=min(score.low, low), high=max(score.high, high), method=METHOD)


def _beta_bounds(unit: LabelledScores, parts: _Parts, level: float) -> tuple[float, float]:
    """Return quantiles of the Beta distribution of labels and pseudo-labels.

    The pseudo-labels contradict the judge, once each way, with a mass of 3/4 each. Weighted labels count as many as
    they are worth (Kish), and so do clusters, whose pseudo-labels weigh sqrt(design effect / mean size) of a cluster.
    """
    from scipy.special import betaincinv, ndtr

    weights, clusters = unit.weights, unit.clusters
    left = (weights * (unit.labels - parts.trust * unit.judged - parts.left))[:, None]
    per_unit = weights[:, None] if clusters is None else cluster_sums(weights[:, None], clusters)
    n = float(per_unit.sum()) ** 2 / float((per_unit**2).sum())
    mass, tail = PSEUDO_LABELS, (1 - level) / 2
    if clusters is not None and parts.clustered:
        of_rows, size = float((left**2).sum()), parts.n / parts.groups
        effect = float((cluster_sums(left, clusters) ** 2).sum()) / of_rows if of_rows > 0 else size
        # Clusters of copies are single labels, for which the normal quantile holds.
        if effect < size * (1 - 1e-9):
            mass *= math.sqrt(max(effect, 1.0) / size)
            tail = float(ndtr(-t_value(level, parts.groups - 1)))
    scale = n / float(weights.sum())
    labels, judged = np.append(unit.labels, [1.0, 0.0]), np.append(unit.judged, [0.0, 1.0])
    masses = np.append(weights * scale, [mass, mass])
    trust = _slope(labels, judged, masses, share=parts.n * (1 + 2 * mass / n) / len(unit.rest))
    residual = labels - trust * judged
    total = float(masses.sum())
    centre = float(masses @ residual) / total
    deviations = (masses * (residual - centre))[:-2, None]
    summed = deviations if clusters is None else cluster_sums(deviations, clusters)
    squares = float((summed**2).sum()) + mass * float(((residual[-2:] - centre) ** 2).sum())
    mean, of_judge = mean_and_variance(trust * unit.rest, unit.rest_weights, unit.rest_clusters)
    share, variance = mean + centre, squares / (total * (total + 1)) + of_judge
    size = share * (1 - share) / variance - 1
    if not 0 < share < 1 or size <= 0:
        return 0.0, 1.0
    low, high = (float(betaincinv(share * size, (1 - share) * size, chance)) for chance in (tail, 1 - tail))
    return low, high


def _labels_only(unit: LabelledScores, span: tuple[float, float], level: float, *, bounded: bool) -> MetricValue:
    """Return the weighted mean of the labels, ignoring the judge."""
    low, high = span
    if bounded:
        weights = unit.weights / unit.weights.max()
        value = ratio(weights * unit.labels, weights, unit.clusters, level=level)
        assert value.value is not None
        assert value.interval is not None
        mean, unit_interval = value.value, value.interval
    else:
        nobody = replace(unit, judged=unit.labels * 0, rest=unit.rest[:0])
        parts = _Parts.of(nobody, unseen=0.0)
        mean, unit_interval = parts.estimate, parts.interval(level, bounded=False)
    return MetricValue(
        value=low + (high - low) * mean, n=len(unit.labels), interval=_stretched(unit_interval, low, high)
    )


def _stretched(unit_interval: Interval, low: float, high: float) -> Interval:
    bounds = [
        None if bound is None else low + (high - low) * bound for bound in (unit_interval.low, unit_interval.high)
    ]
    error = None if unit_interval.standard_error is None else (high - low) * unit_interval.standard_error
    return replace(unit_interval, low=bounds[0], high=bounds[1], standard_error=error)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The estimate on the range from 0 to 1, and the two parts of its variance."""

    estimate: float
    trust: float
    n: int
    groups: int
    clustered: bool
    of_judge: float
    of_labels: float
    left: float

    @classmethod
    def of(cls, scores: LabelledScores, *, unseen: float) -> _Parts:
        weights, rest_weights = scores.weights, scores.rest_weights
        n, n_rest = len(scores.labels), len(scores.rest)
        # how much of the judge to use: the slope of labels on its scores, less what its own noise costs
        trust = _slope(scores.labels, scores.judged, weights, share=n / n_rest) if n_rest else 0.0
        left = scores.labels - trust * scores.judged
        groups = n if scores.clusters is None else len(np.unique(scores.clusters))
        left_mean, of_labels = mean_and_variance(left, weights, scores.clusters)
        estimate = left_mean
        # Labels that agree with the judge everywhere have no variance of their own; errors not seen yet have.
        of_labels = max(of_labels, trust**2 * unseen / (groups * (groups - 1))) if groups > 1 else math.inf
        of_judge = 0.0
        if n_rest:
            mean, of_judge = mean_and_variance(trust * scores.rest, rest_weights, scores.rest_clusters)
            estimate += mean
        return cls(estimate, trust, n, groups, groups < n, of_judge, of_labels, left_mean)

    @property
    def variance(self) -> float:
        return self.of_judge + self.of_labels

    def interval(self, level: float, *, bounded: bool) -> Interval:
        if self.groups < 2:
            return no_interval(ONE_CLUSTER, level=level, method="t", clusters=self.groups if self.clustered else None)
        clusters = self.groups if self.clustered else None
        caveat = "few clusters" if self.clustered and self.groups < FEW_CLUSTERS else None
        if not bounded:
            if self.variance <= 0:
                return no_interval("all labels are equal and there is no declared range", level=level, method="t")
            half = t_value(level, self.groups - 1) * math.sqrt(self.variance)
            low, high = self.estimate - half, self.estimate + half
            return Interval(
                low=low,
                high=high,
                method="t",
                level=level,
                clusters=clusters,
                caveat=caveat,
                standard_error=math.sqrt(self.variance),
            )
        share = min(max(self.estimate, 0.0), 1.0)
        # Without a variance, or at an end of the range, each group counts as one independent label.
        size, c = float(self.groups), z_value(level)
        if self.variance > 1e-15 and 0 < share < 1:
            size, c = share * (1 - share) / self.variance, t_value(level, self.groups - 1)
        bounds = [float(bound) for bound in wilson(share * size, size, c=c)]
        return Interval(
            low=min(bounds[0], self.estimate),
            high=max(bounds[1], self.estimate),
            method="wilson_effective",
            level=level,
            n_effective=size,
            clusters=clusters,
            caveat=caveat,
            standard_error=math.sqrt(self.variance),
        )

    def labels_to_halve(self, level: float) -> int | None:
        z = z_value(level)
        width = 2 * z * math.sqrt(self.variance)
        # Half the width is a quarter of the variance, of which the judge's part does not shrink with more labels.
        room = width**2 / (16 * z**2) - self.of_judge
        return math.ceil(self.of_labels * self.n / room) if room > 0 and 0 < self.of_labels < math.inf else None


def _slope(labels: FloatArray, judged: FloatArray, weights: FloatArray, *, share: float) -> float:
    """Return the slope of labels on scores, clipped to 0 to 1 and shrunk by the ratio of labelled to unlabelled
    samples.
    """
    total = weights.sum()
    judged = judged - (weights @ judged) / total
    labels = labels - (weights @ labels) / total
    spread = float(weights @ judged**2)
    if spread <= 0:
        return 0.0
    # Never below 0: a judge that contradicts people is ignored, not turned round.
    return min(max(float(weights @ (judged * labels)) / spread / (1 + share), 0.0), 1.0)


def mean_and_variance(values: FloatArray, weights: FloatArray, clusters: Clusters = None) -> tuple[float, float]:
    """A weighted mean and its variance by linearisation over clusters; of even weights the plain ones.

    >>> mean_and_variance(np.array([0.0, 1.0]), np.ones(2))
    (0.5, 0.25)
    """
    total = float(weights.sum())
    mean = float(weights @ values) / total
    residual = (weights * (values - mean))[:, None]
    summed = residual if clusters is None else cluster_sums(residual, clusters)
    n = len(summed)
    return mean, n / (n - 1) * float((summed**2).sum()) / total**2 if n > 1 else 0.0


def _rates(unit: LabelledScores, level: float) -> dict[str, MetricValue | None]:
    """Sensitivity and specificity of a yes/no judge, and Rogan and Gladen's estimate where it can be trusted."""
    sides = (unit.labels, unit.judged, unit.rest)
    if not all(np.isin(side, (0.0, 1.0)).all() for side in sides):
        return {}
    weights = unit.weights / unit.weights.max()
    positive, negative = weights * unit.labels, weights * (1 - unit.labels)
    reason = "no label of this kind"
    sensitivity = ratio(positive * unit.judged, positive, unit.clusters, level=level, undefined=reason)
    specificity = ratio(negative * (1 - unit.judged), negative, unit.clusters, level=level, undefined=reason)
    rates: dict[str, MetricValue | None] = {"sensitivity": sensitivity, "specificity": specificity}
    judged = np.concatenate([unit.judged, unit.rest])
    share = ratio(judged, np.ones_like(judged), unit.all_clusters, level=level)
    return {**rates, "rogan_gladen": rogan_gladen(share, sensitivity, specificity)}
