"""The variation of a mean when the same model answers the same items again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.stats import interval
from assay.types import MetricValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The standard error of a mean that comes from repeating alone, and the difference that noise can make."""

    floor: MetricValue
    difference: MetricValue


def noise_floor(
    table: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Noise:
    """sqrt(mean_i s_i^2 / (T n)) of n items with T repeats each, one row per item, NaN where one is missing.

    s_i^2 is the variance of an item's repeats. With gaps, s_i^2 / T_i takes the place of s_i^2 / T; items with
    fewer than two repeats say nothing and are not counted. `difference` is the smallest one that is more than
    luck between the means of two runs of the same model over the same items: z sqrt(2) times the floor.
    `bounds` is the declared range of the values, which bounds their variance.

    >>> noise = noise_floor([[0, 1], [1, 1], [1, 0], [0, 0]], rng=np.random.default_rng(1), bounds=(0, 1))
    >>> round(noise.floor.value, 4), round(noise.difference.value, 4)
    (0.1768, 0.49)
    """
    numbers = np.asarray(table, dtype=np.float64)
    repeats = (~np.isnan(numbers)).sum(axis=1)
    used, times = numbers[repeats >= 2], repeats[repeats >= 2]
    if not len(used):
        nothing = MetricValue(value=None, n=0, reason="no item has two repeats")
        return Noise(floor=nothing, difference=nothing)
    variance = np.nanvar(used, axis=1, ddof=1) / times
    # Half of the values at either end have the largest variance: range^2 / 4 * T / (T - 1).
    most = None if bounds is None else (bounds[1] - bounds[0]) ** 2 / 4 / float(times.min() - 1)
    mean_variance = interval.mean(variance, rng=rng, bounds=None if most is None else (0.0, most), level=level)
    floor = _transformed(mean_variance, lambda mean: math.sqrt(max(mean, 0.0) / len(used)))
    luck = interval.z_value(level) * math.sqrt(2)
    return Noise(floor=floor, difference=_transformed(floor, lambda value: luck * value))


def _transformed(estimate: MetricValue, change: Callable[[float], float]) -> MetricValue:
    assert estimate.value is not None
    assert estimate.interval is not None
    low, high = (None if bound is None else change(bound) for bound in (estimate.interval.low, estimate.interval.high))
    # The floor is a standard error itself; that of its estimate would only confuse.
    bounds = replace(estimate.interval, low=low, high=high, standard_error=None)
    return replace(estimate, value=change(estimate.value), interval=bounds)
