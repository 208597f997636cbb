"""Differences of F1, kappa, MCC and macro F1 of two runs over the same items: coverage and false verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.metrics.sums import class_sums
from assay.stats import classification
from assay.stats.paired import verdict
from assay.stats.paired_sums import paired_sums
from bench.coverage.measure import Bound, Cell, Draw, Family, ends, simulated
from bench.coverage.pairs import UNCLEAR

STATISTICS: dict[str, classification.Statistic] = {
    "F1": classification.class_f1(1),
    "kappa": classification.kappa,
    "MCC": classification.matthews,
    "macro F1": classification.macro_f1,
}
EVEN, RARE, THREE = (0.5, 0.5), (0.85, 0.15), (0.5, 0.3, 0.2)
# An item takes three times 9,999 resamples, so these cells have fewer runs.
RUNS = 1_000


def joint(shares: Sequence[float], first: float, second: float, shared: float) -> np.ndarray:
    """The chance of each true class with each pair of predictions.

    Both runs predict the true class with their rates. For a share of the items one draw decides for both, so that what
    is hard for the worse run is hard for the better one too. A wrong prediction is any other class, evenly.
    """
    classes = len(shares)
    both = shared * min(first, second) + (1 - shared) * first * second
    right = np.array([[1 - first - second + both, second - both], [first - both, both]])
    options = np.arange(classes)
    table = np.empty((classes, classes, classes))
    for truth, share in enumerate(shares):
        hit = (options == truth).astype(int)
        others = np.where(hit == 1, 1.0, 1 / (classes - 1))
        table[truth] = share * right[np.ix_(hit, hit)] * np.outer(others, others)
    return table


def difference_cell(name: str, shares: Sequence[float], n: int, rates: tuple[float, float], shared: float) -> Cell:
    """The difference of a metric between two runs; version 0.1 did not compare it."""
    table = joint(shares, *rates, shared)
    first, second = (
        float(STATISTICS[name](classification.marginals(side))) for side in (table.sum(axis=2), table.sum(axis=1))
    )
    labels = [str(code) for code in range(len(shares))]
    sums = class_sums("truth", "predicted", lambda _: STATISTICS, labels=labels)
    triples = [(t, p, q) for t in labels for p in labels for q in labels]

    def source(rng: np.random.Generator) -> Draw | None:
        counts = rng.multinomial(n, table.ravel())
        drawn = [triple for triple, count in zip(triples, counts, strict=True) for _ in range(count)]
        pair = sums.compare(name, [(t, p) for t, p, _ in drawn], [(t, q) for t, _, q in drawn])
        result = paired_sums(pair, rng=rng).difference
        now = ends(result.difference.interval)
        if now is None:
            return None
        return Draw(now, None, second - first, clear=verdict(result, result.p) != UNCLEAR)

    kind = f"{len(shares)} classes" if len(shares) > 2 else f"{shares[1]:.0%} yes"
    return simulated(f"{name}, {kind}, right {rates[0]:g} and {rates[1]:g}, {shared:.0%} shared", n, source)


def differences() -> list[Cell]:
    """Metrics that differ: small and large sets, rare positives, hard items in common or not."""
    return [
        *(difference_cell(name, EVEN, 50, (0.8, 0.9), 0.5) for name in ("F1", "kappa", "MCC")),
        *(difference_cell(name, EVEN, 200, (0.92, 0.95), 0.5) for name in ("F1", "kappa", "MCC")),
        difference_cell("F1", RARE, 200, (0.85, 0.92), 0.3),
        difference_cell("kappa", RARE, 200, (0.85, 0.92), 0.3),
        difference_cell("macro F1", THREE, 100, (0.75, 0.85), 0.5),
        difference_cell("kappa", THREE, 100, (0.75, 0.85), 0.5),
    ]


def nulls() -> list[Cell]:
    """Two runs that are right equally often."""
    return [
        *(difference_cell(name, EVEN, 50, (0.85, 0.85), 0.5) for name in ("F1", "kappa", "MCC")),
        difference_cell("F1", EVEN, 100, (0.92, 0.92), 0.5),
        difference_cell("F1", RARE, 200, (0.9, 0.9), 0.3),
        difference_cell("kappa", RARE, 200, (0.9, 0.9), 0.3),
        difference_cell("macro F1", THREE, 100, (0.8, 0.8), 0.5),
        difference_cell("kappa", EVEN, 400, (0.7, 0.7), 0.0),
    ]


FAMILIES = {
    "metric_differences": lambda: Family(
        "pairs, F1 and kappa", differences(), Bound(least=0.91, mean=(0.935, 0.965)), runs=RUNS
    ),
    "metric_nulls": lambda: Family(
        "pairs, F1 and kappa, true difference 0", nulls(), Bound(least=0.91, most_clear=0.065), runs=RUNS
    ),
}
