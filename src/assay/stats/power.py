"""The sample size for a difference, the smallest detectable difference, and the power.

Miettinen, O. S. (1968), The matched pairs design in the case of all-or-none responses, Biometrics 24.
Fleiss, J. L., Levin, B. and Paik, M. C. (2003), Statistical Methods for Rates and Proportions, chapter 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from assay.stats.interval import z_value

POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The design of a comparison: the variance of the averaged quantity without and with a difference.

    `at_null` and `at(d)` are variances of an item (paired) or of an item in each run (unpaired); `most` is the
    largest difference there can be.
    """

    at_null: float
    loses_square: bool
    share: float | None = None
    most: float = math.inf

    def at(self, difference: float) -> float:
        """The variance of an item where the difference is this."""
        if self.loses_square:
            return max(self.at_null - difference**2, 0.0)
        if self.share is None:
            return self.at_null
        other_share = min(max(self.share + difference, 0.0), 1.0)
        return self.share * (1 - self.share) + other_share * (1 - other_share)

    def null(self, difference: float) -> float:
        """The variance of an item as the test takes it."""
        if self.loses_square or self.share is None:
            return max(self.at_null, difference**2) if self.loses_square else self.at_null
        middle = min(max(self.share + difference / 2, 0.0), 1.0)
        return 2 * middle * (1 - middle)


def paired_design(flips: float) -> Design:
    """Both runs over the same samples; `flips` is the share that changes, or the mean squared difference.

    >>> paired_design(0.1).most
    0.1
    """
    return Design(at_null=flips, loses_square=True, most=flips if flips <= 1 else math.inf)


def unpaired_share(share: float) -> Design:
    """Two runs over different samples; `share` is that of the first."""
    return Design(at_null=2 * share * (1 - share), loses_square=False, share=share, most=max(share, 1 - share))


def unpaired_mean(variance: float) -> Design:
    """Two runs over different samples, whose values have this variance."""
    return Design(at_null=2 * variance, loses_square=False)


def items_needed(design: Design, difference: float, *, power: float = POWER, level: float = 0.95) -> int | None:
    """Return how many samples (per run, if they differ) show a difference with this power.

    >>> items_needed(paired_design(0.2), 0.05), items_needed(unpaired_share(0.8), 0.05)
    (626, 906)
    """
    size = abs(difference)
    if size == 0 or size > design.most + 1e-12:
        return None
    root = z_value(level) * math.sqrt(design.null(difference))
    root += z_value(2 * power - 1) * math.sqrt(design.at(difference))
    # a power below that of a guess needs no samples at all
    return max(math.ceil(max(root, 0.0) ** 2 / size**2 - 1e-9), 2)


def power_of(design: Design, difference: float, n: int, *, level: float = 0.95) -> float:
    """Return the probability that n samples show a difference.

    >>> round(power_of(paired_design(0.2), 0.05, 626), 2)
    0.8
    """
    spread = math.sqrt(design.at(difference))
    reach = abs(difference) * math.sqrt(n) - z_value(level) * math.sqrt(design.null(difference))
    if spread == 0:
        return 1.0 if reach >= 0 else 0.0
    return NormalDist().cdf(reach / spread)


def detectable(design: Design, n: int, *, power: float = POWER, level: float = 0.95) -> float | None:
    """Return the smallest difference that n samples show with this power; None if none is small enough.

    >>> round(detectable(paired_design(0.2), 626), 3)
    0.05
    """
    most = min(design.most, 1e9)
    low, high = 0.0, most if math.isfinite(design.most) else 1.0
    while power_of(design, high, n, level=level) < power:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    for _ in range(80):
        middle = (low + high) / 2
        if power_of(design, middle, n, level=level) < power:
            low = middle
        else:
            high = middle
    return high
