"""The distance of a judge's scores from the ground truth: bias, MAE, RMSE, and near misses."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.stats import interval
from assay.stats.classification import Pairs
from assay.stats.clusters import Clusters, FloatArray
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The mean of judge minus ground truth, the mean of its absolute value, and the root of its mean square."""

    bias: MetricValue
    mae: MetricValue
    rmse: MetricValue


def errors_between(
    judge: npt.ArrayLike,
    truth: npt.ArrayLike,
    clusters: Clusters = None,
    *,
    rng: np.random.Generator,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Errors:
    """Compute bias, MAE and RMSE of pairs; `bounds` is the declared range of both sides and enables score intervals.

    The error of a pair is at most the range, so that a judge without an error still has an interval; its bias
    then lies within the upper bound of the MAE on either side. Where all errors point one way the bias reaches
    as far as the MAE, whose interval knows that rare errors are skewed. Without a range: bootstrap-t.

    >>> errors = errors_between([0.5, 1, 1, 0], [0.5, 1, 0.5, 0], rng=np.random.default_rng(1), bounds=(0, 1))
    >>> errors.bias.value, errors.mae.value, errors.rmse.value
    (0.125, 0.125, 0.25)
    """
    errors = np.asarray(judge, dtype=np.float64) - np.asarray(truth, dtype=np.float64)
    span = None if bounds is None else bounds[1] - bounds[0]

    def mean(values: FloatArray, low: float, high: float | None) -> MetricValue:
        declared = None if high is None else (low, high)
        return interval.mean(values, clusters, rng=rng, bounds=declared, level=level)

    mae = mean(np.abs(errors), 0.0, span)
    squared = mean(errors**2, 0.0, None if span is None else span**2)
    bias = mean(errors, -(span or 0.0), span) if errors.any() or not errors.size else mae
    reach = (bool(np.all(errors <= 0)), bool(np.all(errors >= 0)))
    return Errors(bias=_as_far(bias, mae, reach), mae=_from_zero(mae), rmse=_root(squared))


def _as_far(bias: MetricValue, mae: MetricValue, reach: tuple[bool, bool]) -> MetricValue:
    """Extend the bias interval to the MAE's upper bound, on the sides where all observed errors may lie."""
    if bias.interval is None or mae.interval is None or mae.interval.high is None:
        return bias
    low, high, far = bias.interval.low, bias.interval.high, mae.interval.high
    low = min(low, -far) if reach[0] and low is not None else low
    high = max(high, far) if reach[1] and high is not None else high
    return replace(bias, interval=replace(bias.interval, low=low, high=high))


def _from_zero(error: MetricValue) -> MetricValue:
    """Clip the lower bound at 0: bootstrap-t does not know that absolute errors cannot be negative."""
    if error.interval is None or error.interval.low is None:
        return error
    return replace(error, interval=replace(error.interval, low=max(error.interval.low, 0.0)))


def _root(squared: MetricValue) -> MetricValue:
    mean_square = _from_zero(squared)
    if mean_square.value is None or mean_square.interval is None:
        return mean_square
    low, high = (
        None if bound is None else math.sqrt(bound) for bound in (mean_square.interval.low, mean_square.interval.high)
    )
    value, error = math.sqrt(mean_square.value), mean_square.interval.standard_error
    # The slope of the root carries the standard error over; at 0 it has none.
    error = None if error is None or not value else error / (2 * value)
    return replace(
        mean_square, value=value, interval=replace(mean_square.interval, low=low, high=high, standard_error=error)
    )


def adjacent_accuracy(pairs: Pairs, values: npt.ArrayLike, *, level: float = 0.95) -> MetricValue:
    """Return the share of pairs at most one rank apart; options rank by value, and equal values share a rank.

    >>> pairs = Pairs(np.array([0, 0, 0]), np.array([0, 1, 2]), 3)
    >>> round(adjacent_accuracy(pairs, [0, 0.1, 1]).value, 3)
    0.667
    """
    rank = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)[1]
    adjacent = (np.abs(rank[pairs.truth] - rank[pairs.predicted]) <= 1).astype(np.float64)
    whole, none = np.ones_like(adjacent), "no sample has a value"
    return interval.ratio(adjacent, whole, pairs.clusters, counts=pairs.counts, level=level, undefined=none)
