"""Means of values in a declared range: near the ceiling, with clusters, over groups, and random cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from scipy.special import gammaln

from assay.stats import interval
from assay.stats.macro import macro_mean
from assay.summary.trials import pass_at_k, pass_hat_k, unbiased_pass_at_k, unbiased_pass_hat_k
from bench.coverage.measure import Bound, Cell, Draw, Family, Weighted, both, exact, simulated

Values = Callable[[np.random.Generator], np.ndarray]
SIZES = (20, 30, 50, 100, 150, 200, 300)
RUBRIC = (0.0, 0.25, 0.5, 0.75, 1.0)
RARE_ZEROS = ((1.0, 0.9, 0.0), (0.98, 0.01, 0.01))
# Not the seed of any cell that a method was tuned on.
RANDOM_CELLS = 88_172_645


def mean_cell(name: str, n: int, values: Values, truth: float, ids: np.ndarray | None = None) -> Cell:
    """The mean of values between 0 and 1; version 0.1 had the score interval without a guard."""

    def source(rng: np.random.Generator) -> Draw | None:
        drawn = values(rng)
        now = interval.mean(drawn, ids, rng=rng, bounds=(0, 1)).interval
        return both(now, interval.ratio(drawn, np.ones_like(drawn), ids).interval, truth)

    return simulated(name, n, source)


def mostly_ones(share: float, n: int) -> Cell:
    """A share of ones, and uniform values."""
    name = f"{share:.0%} ones, the rest uniform"
    return mean_cell(name, n, lambda rng: np.where(rng.random(n) < share, 1.0, rng.random(n)), (1 + share) / 2)


def levels(name: str, n: int, values: tuple[float, ...], shares: tuple[float, ...]) -> Cell:
    """A few values with their shares."""
    return mean_cell(name, n, lambda rng: rng.choice(values, p=shares, size=n), float(np.dot(values, shares)))


def beta(a: float, b: float, n: int) -> Cell:
    """Values that do not repeat."""
    name = "uniform" if a == b == 1 else f"beta({a:g}, {b:g})"
    return mean_cell(name, n, lambda rng: rng.beta(a, b, n), a / (a + b))


def means() -> list[Cell]:
    """The cells of bounded means without clusters."""
    return [
        *(mostly_ones(share, n) for share in (0.97, 0.9, 0.8) for n in SIZES),
        *(levels("98 % at 1, 1 % at .9, 1 % at 0", n, *RARE_ZEROS) for n in SIZES),
        *(levels("five levels, 90 % at the top", n, RUBRIC, (0.01, 0.01, 0.03, 0.05, 0.9)) for n in SIZES),
        *(levels("five levels, evenly spread", n, RUBRIC, (0.1, 0.2, 0.3, 0.2, 0.2)) for n in SIZES),
        *(beta(a, 1, n) for a in (1, 5, 20) for n in SIZES),
    ]


def three_valued(n: int, values: tuple[float, ...], shares: tuple[float, ...]) -> Cell:
    """The mean of three-valued data, summed over all outcomes that matter."""
    truth = float(np.dot(values, shares))

    def outcomes() -> Weighted:
        rng = np.random.default_rng(1)
        for counts, chance in likely_counts(n, shares):
            there = np.asarray(values)[counts > 0]
            now = interval.mean(there, counts=counts[counts > 0], rng=rng, bounds=(0, 1)).interval
            before = interval.ratio(there, np.ones_like(there), counts=counts[counts > 0]).interval
            draw = both(now, before, truth)
            assert draw is not None
            yield chance, draw

    shown = ", ".join(f"{share:.0%} at {value:g}" for value, share in zip(values, shares, strict=True))
    return exact(shown, n, outcomes)


def likely_counts(n: int, shares: tuple[float, ...]) -> Iterator[tuple[np.ndarray, float]]:
    """Counts of three values among n, with their chance; those that are too unlikely to matter are left out."""
    counts = np.array([(n - i - j, i, j) for i in range(n + 1) for j in range(n + 1 - i)])
    chances = np.exp(gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(shares))
    for row in np.flatnonzero(chances > 1e-7):
        yield counts[row], float(chances[row])


def documents(name: str, sizes: np.ndarray, share: float) -> Cell:
    """Rows of a document that is perfect, or has a share of uniform grades."""
    ids = np.repeat(np.arange(len(sizes)), sizes)

    def values(rng: np.random.Generator) -> np.ndarray:
        bad = (rng.random(len(sizes)) < share)[ids] & (rng.random(len(ids)) < 0.7)
        return np.where(bad, rng.random(len(ids)), 1.0)

    return mean_cell(name, len(ids), values, 1 - 0.35 * share, ids)


def clustered() -> list[Cell]:
    """Documents of equal and of unequal sizes."""
    lognormal = np.maximum(1, np.round(np.random.default_rng(5).lognormal(1.5, 1, 60))).astype(int)
    return [
        documents("40 documents of 5", np.full(40, 5), 0.1),
        documents("100 documents of 4", np.full(100, 4), 0.05),
        documents("60 documents of lognormal sizes", lognormal, 0.08),
        documents("40 documents of 1 to 20", np.arange(40) // 2 + 1, 0.1),
        documents("100 documents, 10 of 30 rows, 90 of 3", np.where(np.arange(100) % 10 == 0, 30, 3), 0.08),
    ]


def random_cell(rng: np.random.Generator) -> Cell:
    """A mean of values of which most are equal, with parameters that nobody chose."""
    n, share = int(rng.integers(20, 301)), float(rng.uniform(0.5, 0.99))
    common = float(rng.choice([1.0, 0.0, round(rng.uniform(0, 1), 2)], p=[0.6, 0.2, 0.2]))
    a, b = rng.choice([0.5, 1.0, 2.0, 5.0], size=2)
    name = f"{share:.1%} at {common:g}, the rest beta({a:g}, {b:g})"
    truth = float(share * common + (1 - share) * a / (a + b))
    return mean_cell(name, n, lambda r: np.where(r.random(n) < share, common, r.beta(a, b, n)), truth)


def random_cells(number: int = 100) -> list[Cell]:
    """Cells drawn from a seed of their own."""
    rng = np.random.default_rng(RANDOM_CELLS)
    return [random_cell(rng) for _ in range(number)]


def pass_cell(function: str, n: int, trials: int, k: int, chances: tuple[float, float]) -> Cell:
    """pass@k or pass^k of samples whose chance of success is Beta(a, b); version 0.1 showed the plug-in value."""
    a, b = chances
    some = function == "pass@k"
    # The expected value of (1 - p)^k or p^k over the Beta distribution.
    side = b if some else a
    moment = math.exp(gammaln(side + k) - gammaln(side) + gammaln(a + b) - gammaln(a + b + k))
    truth = 1 - moment if some else moment
    unbiased, plug_in = (unbiased_pass_at_k, pass_at_k) if some else (unbiased_pass_hat_k, pass_hat_k)
    table = np.array([unbiased(trials, c, k) for c in range(trials + 1)], dtype=np.float64)
    biased = np.array([plug_in(trials, c, k) for c in range(trials + 1)])

    def source(rng: np.random.Generator) -> Draw | None:
        right = rng.binomial(trials, rng.beta(a, b, n))
        now = interval.mean(table[right], rng=rng, bounds=(0, 1)).interval
        return both(now, interval.ratio(biased[right], np.ones(n)).interval, truth)

    return simulated(f"{function}, k={k}, {trials} trials, chances beta({a:g}, {b:g})", n, source)


def pass_cells() -> list[Cell]:
    """Unbiased pass@k and pass^k."""
    designs = [(100, 10, 5), (50, 5, 3), (300, 4, 2), (30, 8, 2)]
    return [
        pass_cell(function, *design, chances)
        for function in ("pass@k", "pass^k")
        for design in designs
        for chances in ((5.0, 1.0), (1.0, 1.0), (0.5, 0.5))
    ]


OfGroup = Callable[[np.random.Generator, int, int], np.ndarray]
"""Draws the values of a group, by its number and size."""


def macro_cell(name: str, sizes: tuple[int, ...], values: OfGroup, bounds: tuple[float, float] | None = (0, 1)) -> Cell:
    """The mean of group means, of which version 0.1 had none. The true mean of group g is that of many values."""
    groups = np.repeat(np.arange(len(sizes)), sizes)

    @cache
    def truth() -> float:
        many = np.random.default_rng(3)
        return float(np.mean([values(many, group, 1_000_000).mean() for group in range(len(sizes))]))

    def source(rng: np.random.Generator) -> Draw | None:
        drawn = np.concatenate([values(rng, group, size) for group, size in enumerate(sizes)])
        return both(macro_mean(drawn, groups, bounds=bounds).interval, None, truth())

    return simulated(name, len(groups), source)


def macro_clusters(name: str, groups: int, documents: int, size: int) -> Cell:
    """0/1 answers about documents that are alike; each document lies in one group."""
    ids = np.repeat(np.arange(groups * documents), size)
    of_group = ids // documents
    share = 0.95 - 0.05 * np.arange(groups)

    def source(rng: np.random.Generator) -> Draw | None:
        centre = np.repeat(share, documents)
        own = rng.beta(4 * centre, 4 * (1 - centre))
        values = (rng.random(len(ids)) < own[ids]).astype(float)
        return both(macro_mean(values, of_group, ids, bounds=(0, 1)).interval, None, float(share.mean()))

    return simulated(name, len(ids), source)


def rising(rng: np.random.Generator, group: int, size: int) -> np.ndarray:
    """0/1 values whose share falls from group to group."""
    return (rng.random(size) < 0.95 - 0.05 * (group % 10)).astype(float)


def near_top(rng: np.random.Generator, group: int, size: int) -> np.ndarray:
    """Graded values near the ceiling, a little lower from group to group."""
    return np.where(rng.random(size) < 0.97 - 0.02 * (group % 5), 1.0, rng.random(size))


def rare_zeros(rng: np.random.Generator, _group: int, size: int) -> np.ndarray:
    """Ones, and rarely a zero."""
    return rng.choice(RARE_ZEROS[0], p=RARE_ZEROS[1], size=size)


def macro_cells() -> list[Cell]:
    """Groups of equal and of unequal sizes."""
    return [
        macro_cell("0/1, 10 groups of 20", (20,) * 10, rising),
        macro_cell("0/1, 6 groups of 5 to 160", (5, 10, 20, 40, 80, 160), rising),
        macro_cell("0/1, 50 groups of 4", (4,) * 50, rising),
        macro_cell("graded near 1, 5 groups of 30", (30,) * 5, near_top),
        macro_cell("graded near 1, 10 groups of 5 to 100", (5, 5, 10, 10, 20, 20, 50, 50, 100, 100), near_top),
        macro_cell("beta(2, 2), 4 groups of 10", (10,) * 4, lambda rng, _, size: rng.beta(2, 2, size)),
        macro_cell("98 % at 1, 1 % at .9, 1 % at 0, 5 groups of 20", (20,) * 5, rare_zeros),
        macro_cell("98 % at 1, 1 % at .9, 1 % at 0, 5 groups of 60", (60,) * 5, rare_zeros),
        macro_clusters("0/1, 5 groups of 12 documents of 5", 5, 12, 5),
    ]


def macro_without_range() -> list[Cell]:
    """Values without a declared range."""
    return [
        macro_cell("normal, 5 groups of 10", (10,) * 5, lambda rng, g, size: rng.normal(g, 1 + g, size), None),
        macro_cell("normal, 4 groups of 3 to 100", (3, 10, 30, 100), lambda rng, g, size: rng.normal(g, 1, size), None),
        macro_cell("exponential, 10 groups of 20", (20,) * 10, lambda rng, _, size: rng.exponential(1, size), None),
    ]


COVERS = Bound(least=0.93)
FAMILIES = {
    "means": lambda: Family("bounded means", means(), Bound(least=0.93, widest=1.2)),
    "exact": lambda: Family(
        "three values, exact", [three_valued(n, *RARE_ZEROS) for n in range(20, 301, 10)], Bound(least=0.93)
    ),
    "clusters": lambda: Family("bounded means, clusters", clustered(), COVERS),
    "random": lambda: Family("100 random cells", random_cells(), COVERS),
    "trials": lambda: Family("pass@k and pass^k", pass_cells(), COVERS),
    "macro": lambda: Family("mean of group means", macro_cells(), COVERS),
    "macro_unbounded": lambda: Family(
        "mean of group means, no range", macro_without_range(), Bound(least=0.91, mean=(0.935, 0.965))
    ),
}
