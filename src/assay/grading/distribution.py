"""Distributions of scores, and the distance between two of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.errors import SpecError
from assay.grading.metrics_types import (
    BiasResult,
    ConfidenceInterval,
    DistributionResult,
    EMDResult,
    KSTestResult,
)
from assay.stats.clusters import FloatArray

_ALPHA = 0.05


def _scores(values: npt.ArrayLike) -> FloatArray:
    scores = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(scores).all():
        raise SpecError("scores must be finite numbers")
    return scores


def score_distribution(
    scores: npt.ArrayLike, *, bins: int | Sequence[float] = 10, include_histogram: bool = True
) -> DistributionResult:
    """The moments, quartiles and histogram of scores; skewness and kurtosis are bias-corrected only by their n.

    >>> score_distribution([0.0, 0.5, 1.0], include_histogram=False).mean
    0.5
    """
    values = _scores(scores)
    n = len(values)
    if n == 0:
        empty = ("mean", "std", "variance", "min", "max", "median", "q25", "q75", "iqr", "skewness", "kurtosis")
        return DistributionResult(n=0, **dict.fromkeys(empty))
    low, median, high = (float(number) for number in np.percentile(values, [25, 50, 75]))
    variance = float(values.var(ddof=1)) if n > 1 else None
    centred = values - values.mean()
    spread = float(np.mean(centred**2))
    varied = n > 1 and spread > 0
    histogram = None
    if include_histogram:
        counts, edges = np.histogram(values, bins=bins)
        histogram = ([float(count) for count in counts], [float(edge) for edge in edges])
    return DistributionResult(
        n=n,
        mean=float(values.mean()),
        std=None if variance is None else variance**0.5,
        variance=variance,
        min=float(values.min()),
        max=float(values.max()),
        median=median,
        q25=low,
        q75=high,
        iqr=high - low,
        skewness=float(np.mean(centred**3)) / spread**1.5 if varied else None,
        kurtosis=float(np.mean(centred**4)) / spread**2 - 3 if varied else None,
        histogram=histogram,
    )


def systematic_bias(
    y_pred: npt.ArrayLike, y_true: npt.ArrayLike, *, paired: bool = True, confidence: float = 0.95
) -> BiasResult:
    """Compute the excess of predicted over true scores, with a t-test and Cohen's d.

    Scores that all differ by the same amount leave the test undefined: the p-value is None, not 0.
    """
    predicted, true = _scores(y_pred), _scores(y_true)
    if paired and len(predicted) != len(true):
        raise SpecError(f"paired scores come in equal numbers, not {len(predicted)} and {len(true)}")
    n = min(len(predicted), len(true))
    if n == 0:
        return BiasResult(mean_bias=None, std_bias=None, is_significant=False, direction="none", n_samples=0)
    if paired:
        differences = predicted - true
        mean, freedom = float(differences.mean()), n - 1
        spread = float(differences.std(ddof=1)) if n > 1 else None
        error = None if spread is None else spread / n**0.5
    else:
        mean, freedom = float(predicted.mean() - true.mean()), len(predicted) + len(true) - 2
        spread = error = None
        if freedom > 0:
            squares = float(((predicted - predicted.mean()) ** 2).sum() + ((true - true.mean()) ** 2).sum())
            spread = (squares / freedom) ** 0.5
            error = spread * (1 / len(predicted) + 1 / len(true)) ** 0.5
    direction = "none" if mean == 0 else "positive" if mean > 0 else "negative"
    # differences that are equal but for rounding have no spread to test against
    if spread is None or error is None or spread <= 1e-12 * max(1.0, abs(mean)):
        return BiasResult(mean_bias=mean, std_bias=spread, is_significant=False, direction=direction, n_samples=n)
    from scipy.special import stdtr, stdtrit

    p_value = float(2 * stdtr(freedom, -abs(mean / error)))
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    return BiasResult(
        mean_bias=mean,
        std_bias=spread,
        is_significant=p_value < 1 - confidence,
        p_value=p_value,
        direction=direction,
        effect_size=mean / spread,
        ci=ConfidenceInterval(lower=mean - half, upper=mean + half, confidence=confidence, method="t"),
        n_samples=n,
    )


def ks_test(sample1: npt.ArrayLike, sample2: npt.ArrayLike | None = None) -> KSTestResult:
    """Run a Kolmogorov-Smirnov test of two samples, or of one against a normal distribution with its own moments."""
    first = _scores(sample1)
    second = None if sample2 is None else _scores(sample2)
    if len(first) == 0 or (second is not None and len(second) == 0):
        return KSTestResult(statistic=None, p_value=None, is_significant=False)
    if second is None and (len(first) < 2 or np.ptp(first) == 0):
        return KSTestResult(statistic=None, p_value=None, is_significant=False)
    from scipy import stats

    if second is None:
        result = stats.kstest(first, "norm", args=(first.mean(), first.std()))
    else:
        with warnings.catch_warnings():
            # where the exact p-value cannot be computed, the asymptotic one is taken
            warnings.simplefilter("ignore", RuntimeWarning)
            result = stats.ks_2samp(first, second)
    p_value = float(result.pvalue)
    return KSTestResult(statistic=float(result.statistic), p_value=p_value, is_significant=p_value < _ALPHA)


def _distance(first: FloatArray, second: FloatArray) -> float:
    """The area between the two empirical distribution functions."""
    every = np.sort(np.concatenate([first, second]))
    gaps = np.diff(every)
    shares = [np.searchsorted(np.sort(side), every[:-1], side="right") / len(side) for side in (first, second)]
    return float((np.abs(shares[0] - shares[1]) * gaps).sum())


def _normalized(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both samples on a scale from 0 to 1, the range of the two together."""
    every = np.concatenate([first, second])
    low, span = float(every.min()), float(np.ptp(every))
    return ((first - low) / span, (second - low) / span) if span > 0 else (first - low, second - low)


def wasserstein_distance(dist1: npt.ArrayLike, dist2: npt.ArrayLike, *, normalize: bool = True) -> float | None:
    """Compute the earth mover's distance of two samples, by default on their common range scaled to 0 to 1.

    >>> wasserstein_distance([1, 5], [2, 3])
    0.375
    """
    first, second = _scores(dist1), _scores(dist2)
    if len(first) == 0 or len(second) == 0:
        return None
    return _distance(*(_normalized(first, second) if normalize else (first, second)))


def earth_movers_distance(dist1: npt.ArrayLike, dist2: npt.ArrayLike, *, normalize: bool = True) -> EMDResult:
    """Compute the earth mover's distance of two samples and which one is higher."""
    first, second = _scores(dist1), _scores(dist2)
    if len(first) == 0 or len(second) == 0:
        return EMDResult(
            emd=None,
            mean_diff=None,
            std_diff=None,
            bias_direction="none",
            bias_magnitude=None,
            interpretation="insufficient data",
        )
    if normalize:
        first, second = _normalized(first, second)
    emd = _distance(first, second)
    mean = float(first.mean() - second.mean())
    return EMDResult(
        emd=emd,
        mean_diff=mean,
        std_diff=float(first.std() - second.std()),
        bias_direction="none" if mean == 0 else "higher" if mean > 0 else "lower",
        bias_magnitude=abs(mean),
        interpretation=EMDResult.interpret_emd(emd),
    )
