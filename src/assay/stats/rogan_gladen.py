"""The true share behind a yes/no judge, from its share of yes and its error rates, with an interval that covers.

Rogan, W. J. and Gladen, B. (1978), Estimating prevalence from the results of a screening test, American Journal of
Epidemiology 107. Lang, Z. and Reiczigel, J. (2014), Confidence limits for prevalence of disease adjusted for estimated
sensitivity and specificity, Preventive Veterinary Medicine 113.
"""

from __future__ import annotations

import math

from assay.stats.interval import z_value
from assay.types import Interval, MetricValue

METHOD = "lang_reiczigel"
LEAST_OF_EACH_CLASS = 10
"""With fewer labels of a class its error rate is too uncertain for the interval to cover."""


def rogan_gladen(share: MetricValue, sensitivity: MetricValue, specificity: MetricValue) -> MetricValue:
    """Return the prevalence implied by a judge with these error rates;

    None, with the reason, if it cannot be estimated.

    Rates from clustered or weighted labels count as many labels as their intervals say they are worth.

    >>> from assay.stats.interval import ratio
    >>> rate = ratio([1.0] * 90 + [0.0] * 10, [1.0] * 100)
    >>> value = rogan_gladen(ratio([1.0] * 50 + [0.0] * 50, [1.0] * 100), rate, rate)
    >>> round(value.value, 3), round(value.interval.low, 3), round(value.interval.high, 3)
    (0.5, 0.366, 0.634)
    """
    reason = _why_not(sensitivity, specificity)
    if reason is not None or share.value is None or sensitivity.value is None or specificity.value is None:
        return MetricValue(value=None, n=share.n, reason=reason or share.reason)
    skill = sensitivity.value + specificity.value - 1
    value = min(max((share.value + specificity.value - 1) / skill, 0.0), 1.0)
    level = sensitivity.interval.level if sensitivity.interval is not None else 0.95
    low, high = _lang_reiczigel(
        (share.value, _size(share)),
        (sensitivity.value, _size(sensitivity)),
        (specificity.value, _size(specificity)),
        z_value(level),
    )
    noise = sum(
        slope**2 * rate.value * (1 - rate.value) / _size(rate)
        for rate, slope in ((share, 1.0), (sensitivity, value), (specificity, 1 - value))
        if rate.value is not None
    )
    error = math.sqrt(noise) / skill
    interval = Interval(low=min(low, value), high=max(high, value), method=METHOD, level=level, standard_error=error)
    return MetricValue(value=value, n=share.n, interval=interval)


Rate = tuple[float, float]
"""A share and its sample size."""


def _lang_reiczigel(share: Rate, sensitivity: Rate, specificity: Rate, z: float) -> tuple[float, float]:
    (p, m), (s1, n1), (s0, n0) = share, sensitivity, specificity
    # Pseudo-counts keep a rate that was estimated as 1 from counting as known.
    se, sp, ap = (s1 * n1 + 1) / (n1 + 2), (s0 * n0 + 1) / (n0 + 2), (p * m + z**2 / 2) / (m + z**2)
    skill = se + sp - 1
    if skill <= 0:
        return 0.0, 1.0
    estimate = min(max((ap + sp - 1) / skill, 0.0), 1.0)
    of_se, of_sp = se * (1 - se) / (n1 + 2), sp * (1 - sp) / (n0 + 2)
    centre = estimate + 2 * z**2 * (estimate * of_se - (1 - estimate) * of_sp)
    noise = ap * (1 - ap) / (m + z**2) + estimate**2 * of_se + (1 - estimate) ** 2 * of_sp
    half = z / skill * math.sqrt(noise)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _why_not(sensitivity: MetricValue, specificity: MetricValue) -> str | None:
    labels = [0 if rate.value is None else rate.n for rate in (sensitivity, specificity)]
    if min(labels) < LEAST_OF_EACH_CLASS:
        return f"needs at least {LEAST_OF_EACH_CLASS} labels of each class: {labels[0]:,} are yes, {labels[1]:,} are no"
    least = _least_skill(sensitivity, specificity)
    if least is None or least <= 0:
        return "sensitivity + specificity - 1 may be 0 or less: the judge may be guessing"
    return None


def _least_skill(sensitivity: MetricValue, specificity: MetricValue) -> float | None:
    """The lower bound of sensitivity + specificity - 1, from the bounds of its parts (Donner and Zou)."""
    total, reach = -1.0, 0.0
    for rate in (sensitivity, specificity):
        if rate.value is None or rate.interval is None or rate.interval.low is None:
            return None
        total += rate.value
        reach = math.hypot(reach, rate.value - rate.interval.low)
    return total - reach


def _size(rate: MetricValue) -> float:
    size = rate.interval.n_effective if rate.interval is not None else None
    return min(size or rate.n, float(rate.n))
