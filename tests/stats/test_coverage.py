"""Do 95 % intervals cover 95 %? Each cell draws data from a known truth, again and again.

The long form (4,000 runs a cell) is `make coverage-study`; the short form runs with the other tests.
The negative controls are what is usually done; the same check must refuse them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from assay.stats import bayes, classification, interval
from assay.stats.additive_stats import Additive, bootstrapped
from assay.stats.alpha import alpha_sums
from assay.stats.bootstrap import t_value
from assay.stats.classification import Pairs, binary
from assay.stats.correlation import correlation
from assay.stats.errors_between import errors_between
from assay.stats.fleiss import fleiss_sums, gwets_ac
from assay.stats.icc import intraclass
from assay.stats.kappa import Weighting, distances, kappa_sums
from assay.stats.panel import effective_judges
from assay.stats.ratings import Ratings
from assay.types import Interval, MetricValue

Check = Callable[[Sequence[float], int], bool]
Cell = Callable[[np.random.Generator], tuple[Interval | None, float]]
LONG = 4_000


def of(value: MetricValue, truth: float) -> tuple[Interval | None, float]:
    return value.interval, truth


def coverage(cell: Cell, runs: int, seed: int = 7) -> float:
    """The share of runs whose interval holds the truth, among those that have an interval."""
    rng = np.random.default_rng(seed)
    held = made = 0
    for _ in range(runs):
        found, truth = cell(rng)
        if found is None or found.low is None or found.high is None:
            continue
        made += 1
        held += found.low <= truth <= found.high
    assert made > runs / 2
    return held / made


def unbounded(draw: Callable[[np.random.Generator], np.ndarray], truth: float) -> Cell:
    return lambda rng: of(interval.mean(draw(rng), rng=rng), truth)


MEANS: dict[str, Cell] = {
    "lognormal, n=30": unbounded(lambda rng: rng.lognormal(size=30), math.exp(0.5)),
    "exponential, n=30": unbounded(lambda rng: rng.exponential(size=30), 1.0),
    "normal, n=10": unbounded(lambda rng: rng.normal(size=10), 0.0),
    "counts, n=30": unbounded(lambda rng: rng.poisson(1.0, size=30), 1.0),
    "ratings, n=30": unbounded(lambda rng: rng.choice([1, 2, 3, 4, 5], p=[0.02, 0.03, 0.05, 0.2, 0.7], size=30), 4.53),
}


def graded(draw: Callable[[np.random.Generator], np.ndarray], truth: float) -> Cell:
    return lambda rng: of(interval.mean(draw(rng), rng=rng, bounds=(0, 1)), truth)


def mostly_ones(rng: np.random.Generator, share: float, n: int) -> np.ndarray:
    return np.where(rng.random(n) < share, 1.0, rng.random(n))


GRADED: dict[str, Cell] = {
    "97 % ones, n=30": graded(lambda rng: mostly_ones(rng, 0.97, 30), 0.985),
    "97 % ones, n=200": graded(lambda rng: mostly_ones(rng, 0.97, 200), 0.985),
    "80 % ones, n=50": graded(lambda rng: mostly_ones(rng, 0.8, 50), 0.9),
    "beta(8, 2), n=30": graded(lambda rng: rng.beta(8, 2, size=30), 0.8),
}


def answers(rng: np.random.Generator, table: Sequence[Sequence[float]], n: int) -> Pairs:
    cells = np.asarray(table, dtype=np.float64)
    drawn = rng.choice(cells.size, p=cells.ravel() / cells.sum(), size=n)
    return Pairs(*np.divmod(drawn, len(cells)), len(cells))


def f1_cell(sensitivity: float, specificity: float, n: int) -> Cell:
    tp, fn, fp = sensitivity / 2, (1 - sensitivity) / 2, (1 - specificity) / 2
    table = [[specificity / 2, fp], [fn, tp]]
    truth = 2 * tp / (2 * tp + fp + fn)
    return lambda rng: of(binary(answers(rng, table, n))["f1_score"], truth)


F1: dict[str, Cell] = {
    ".98/.98, n=30": f1_cell(0.98, 0.98, 30),
    ".98/.98, n=200": f1_cell(0.98, 0.98, 200),
    ".9/.8, n=30": f1_cell(0.9, 0.8, 30),
    ".6/.7, n=100": f1_cell(0.6, 0.7, 100),
}


def clustered_hits(rng: np.random.Generator, share: float, icc: float, groups: int, size: int) -> np.ndarray:
    spread = (1 - icc) / icc
    own = rng.beta(share * spread, (1 - share) * spread, size=groups)
    return (rng.random((groups, size)) < own[:, None]).astype(float).ravel()


def clustered(share: float, icc: float, groups: int, size: int) -> Cell:
    ids = np.repeat(np.arange(groups), size)

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        hits = clustered_hits(rng, share, icc, groups, size)
        return of(interval.ratio(hits, np.ones_like(hits), ids), share)

    return cell


def found_items(rng: np.random.Generator) -> tuple[Interval | None, float]:
    """Recall of counts: each of 40 documents holds a number of things, found with its own ease."""
    things = 1 + rng.poisson(3, size=40)
    hits = rng.binomial(things, rng.beta(8, 2, size=40))
    return of(interval.ratio(hits, things), 0.8)


CLUSTERED: dict[str, Cell] = {
    "57 of 20, icc .2": clustered(0.7, 0.2, 57, 20),
    "30 of 5, icc .5, p=.9": clustered(0.9, 0.5, 30, 5),
    "15 of 4, icc .3": clustered(0.6, 0.3, 15, 4),
    "recall of counts": found_items,
}

TABLES: dict[str, Sequence[Sequence[float]]] = {
    ".98/.98": [[0.49, 0.01], [0.01, 0.49]],
    "one in ten": [[0.855, 0.045], [0.005, 0.095]],
    "three classes": [[0.7, 0.03, 0.02], [0.03, 0.1, 0.02], [0.01, 0.02, 0.07]],
    "five classes": (np.eye(5) * 0.88 / 5 + 0.12 / 25).tolist(),
}


def table_cell(table: Sequence[Sequence[float]], n: int, statistic: classification.Statistic) -> Cell:
    truth = float(statistic(classification.marginals(table)))
    return lambda rng: of(bayes.table_value(answers(rng, table, n), statistic, rng=rng), truth)


TABLE_VALUES: dict[str, Cell] = {
    "kappa .98/.98, n=30": table_cell(TABLES[".98/.98"], 30, classification.kappa),
    "kappa, one in ten, n=30": table_cell(TABLES["one in ten"], 30, classification.kappa),
    "kappa, three classes, n=100": table_cell(TABLES["three classes"], 100, classification.kappa),
    "kappa, five classes, n=30": table_cell(TABLES["five classes"], 30, classification.kappa),
    "mcc .98/.98, n=30": table_cell(TABLES[".98/.98"], 30, classification.matthews),
    "macro F1, three classes, n=100": table_cell(TABLES["three classes"], 100, classification.macro_f1),
    "macro F1, five classes, n=100": table_cell(TABLES["five classes"], 100, classification.macro_f1),
}


def correlated(name: str, slope: float, n: int) -> Cell:
    truth = {
        "pearson": slope,
        "spearman": 6 / math.pi * math.asin(slope / 2),
        "kendall": 2 / math.pi * math.asin(slope),
    }[name]

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        x = rng.normal(size=n)
        y = slope * x + math.sqrt(1 - slope**2) * rng.normal(size=n)
        return of(correlation(x, y, name), truth)  # type: ignore[arg-type]

    return cell


CORRELATIONS: dict[str, Cell] = {
    f"{name} {slope}, n={n}": correlated(name, slope, n)
    for name in ("pearson", "spearman", "kendall")
    for slope, n in ((0.3, 30), (0.9, 30), (0.6, 100))
}

EVEN, RARE, SKEWED = (0.5, 0.5), (0.1, 0.9), (0.05, 0.1, 0.15, 0.3, 0.4)


def votes(
    rng: np.random.Generator, shares: Sequence[float], n: int, raters: int, *, error: float, gaps: float = 0.0
) -> Ratings:
    """Each rater sees the item's option, or errs and picks one by its share, or leaves a gap."""
    options = len(shares)
    own = rng.choice(options, p=shares, size=(n, 1))
    codes = np.where(rng.random((n, raters)) < error, rng.choice(options, p=shares, size=(n, raters)), own)
    return Ratings(codes=np.where(rng.random((n, raters)) < gaps, -1, codes), values=np.linspace(0, 1, options))


def rated(
    made: Callable[[Ratings], Additive],
    shares: Sequence[float],
    n: int,
    *,
    raters: int = 3,
    error: float = 0.06,
    gaps: float = 0.0,
) -> Cell:
    """Two raters see the item's option with the chance (1 - error)^2, else agree by chance: that is their kappa."""
    seen = (1 - error) ** 2
    return lambda rng: of(bootstrapped(made(votes(rng, shares, n, raters, error=error, gaps=gaps)), rng=rng), seen)


def rated_by_gwet(weighting: Weighting, shares: Sequence[float], n: int) -> Cell:
    """Gwet's coefficients of the same votes: chance is not what chance gives here."""
    share, seen = np.asarray(shares), 0.94**2
    alike = 1 - distances(np.linspace(0, 1, len(share)), weighting)
    agreement = seen + (1 - seen) * share @ alike @ share
    chance = alike.sum() / (len(share) * (len(share) - 1)) * (share * (1 - share)).sum()
    truth = float((agreement - chance) / (1 - chance))
    return lambda rng: of(gwets_ac(votes(rng, shares, n, 3, error=0.06), weighting, rng=rng), truth)


def quadratic(ratings: Ratings) -> Additive:
    return kappa_sums(ratings.pair(0, 1), ratings.values, "quadratic")


def ordinal(ratings: Ratings) -> Additive:
    return alpha_sums(ratings, "ordinal")


def by_interval(ratings: Ratings) -> Additive:
    return alpha_sums(ratings, "interval")


AGREEMENT: dict[str, Cell] = {
    "quadratic kappa, n=30, near 1": rated(quadratic, SKEWED, 30, raters=2, error=0.03),
    "quadratic kappa, n=30, near .5": rated(quadratic, SKEWED, 30, raters=2, error=0.3),
    "alpha nominal, two options, n=30": rated(alpha_sums, EVEN, 30),
    "alpha nominal, one in ten, n=30": rated(alpha_sums, RARE, 30),
    "alpha ordinal, gaps, n=30": rated(ordinal, SKEWED, 30, raters=5, gaps=0.3),
    "alpha interval, n=30": rated(by_interval, SKEWED, 30),
    "Fleiss, one in ten, n=30": rated(fleiss_sums, RARE, 30),
    "Fleiss, gaps, n=100": rated(fleiss_sums, SKEWED, 100, raters=5, gaps=0.3),
    "AC1, one in ten, n=30": rated_by_gwet("none", RARE, 30),
    "AC2, n=100": rated_by_gwet("quadratic", SKEWED, 100),
}


def intraclass_cell(n: int, raters: int, error: float) -> Cell:
    level = 0.3 * (np.arange(raters) - (raters - 1) / 2)
    truth = float(1 / (1 + level.var(ddof=1) + error**2))

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        table = rng.normal(size=(n, 1)) + level + error * rng.normal(size=(n, raters))
        return of(intraclass(table).single, truth)

    return cell


def judges_cell(n: int, judges: int, r: float) -> Cell:
    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        table = math.sqrt(r) * rng.normal(size=(n, 1)) + math.sqrt(1 - r) * rng.normal(size=(n, judges))
        return of(effective_judges(table), judges / (1 + (judges - 1) * r))

    return cell


def clustered_correlation(name: str) -> Cell:
    """Thirty clusters of five pairs that share part of both sides."""
    ids, r = np.repeat(np.arange(30), 5), 0.6
    truth = {"pearson": r, "spearman": 6 / math.pi * math.asin(r / 2)}[name]

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        shared, own = rng.normal(size=(2, 30))[:, ids], rng.normal(size=(2, 150))
        x, e = math.sqrt(0.5) * shared + math.sqrt(0.5) * own
        return of(correlation(x, r * x + math.sqrt(1 - r**2) * e, name, ids), truth)  # type: ignore[arg-type]

    return cell


INTRACLASS: dict[str, Cell] = {
    "ICC, 3 raters, n=30": intraclass_cell(30, 3, 0.5),
    "ICC, 5 raters, n=15": intraclass_cell(15, 5, 1.0),
    "effective judges, n=30": judges_cell(30, 5, 0.2),
    "effective judges, n=100": judges_cell(100, 3, 0.5),
    "pearson, clusters": clustered_correlation("pearson"),
    "spearman, clusters": clustered_correlation("spearman"),
}


def errors_cell(name: str, n: int, share: float, sides: Sequence[float]) -> Cell:
    size = np.asarray(sides)
    truth = {
        "bias": share * size.mean(),
        "mae": share * np.abs(size).mean(),
        "rmse": math.sqrt(share * (size**2).mean()),
    }[name]

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        apart = np.where(rng.random(n) < share, rng.choice(size, size=n), 0.0)
        return of(getattr(errors_between(0.5 + apart, np.full(n, 0.5), rng=rng, bounds=(0, 1)), name), float(truth))

    return cell


ERRORS: dict[str, Cell] = {
    f"{name}, {share}, n={n}": errors_cell(name, n, share, sides)
    for name in ("bias", "mae", "rmse")
    for n, share, sides in ((100, 0.2, (0.25, -0.25)), (100, 0.03, (0.25,)), (30, 0.5, (0.25, 0.1)))
}

FAMILIES = {
    "means": (MEANS, 120),
    "graded": (GRADED, 1_000),
    "F1": (F1, 1_000),
    "clustered": (CLUSTERED, 1_000),
    "tables": (TABLE_VALUES, 60),
    "correlations": (CORRELATIONS, 600),
    "intraclass": (INTRACLASS, 400),
    "errors": (ERRORS, 400),
}

# Most of their values are equal: guarded intervals may cover more than they claim, never less.
GUARDED = ("graded", "errors")


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover_what_they_claim(family: str, covers_as_claimed: Check, covers_at_least: Check) -> None:
    cells, runs = FAMILIES[family]
    check = covers_at_least if family in GUARDED else covers_as_claimed
    assert check([coverage(cell, runs) for cell in cells.values()], runs)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_cover_what_they_claim_in_the_long_run(
    family: str, covers_as_claimed: Check, covers_at_least: Check
) -> None:
    cells, _ = FAMILIES[family]
    found = {name: coverage(cell, LONG) for name, cell in cells.items()}
    print(f"\n{family}:", {name: round(share, 3) for name, share in found.items()})
    check = covers_at_least if family in GUARDED else covers_as_claimed
    assert check(list(found.values()), LONG), found


def test_agreement_covers_what_it_claims(covers_as_claimed: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayes, "DRAWS", 999)
    assert covers_as_claimed([coverage(cell, 200) for cell in AGREEMENT.values()], 200)


@pytest.mark.slow
def test_agreement_covers_what_it_claims_in_the_long_run(covers_as_claimed: Check) -> None:
    found = {name: coverage(cell, LONG) for name, cell in AGREEMENT.items()}
    print("\nagreement:", {name: round(share, 3) for name, share in found.items()})
    assert covers_as_claimed(list(found.values()), LONG), found


def percentile_alpha(rng: np.random.Generator) -> tuple[Interval | None, float]:
    """What is usually done: resampling items, without pseudo-items."""
    made = alpha_sums(votes(rng, EVEN, 30, 2, error=0.03))
    drawn = made.value(rng.multinomial(30, np.full(30, 1 / 30), size=300) @ made.rows)
    low, high = np.quantile(drawn[~np.isnan(drawn)], [0.025, 0.975])
    return Interval(low=low, high=high, method="percentile"), 0.97**2


def test_the_percentile_bootstrap_of_alpha_fails_the_same_check(covers_as_claimed: Check) -> None:
    found = coverage(percentile_alpha, 400)
    assert found < 0.75
    assert not covers_as_claimed([found], 400)


@pytest.mark.slow
def test_averages_over_classes_of_a_few_samples_fall_short(covers_as_claimed: Check) -> None:
    """Two of the three classes have two or four samples: 86 %. The metric says "small classes" there."""
    found = coverage(table_cell(TABLES["three classes"], 30, classification.macro_f1), LONG)
    assert 0.85 < found < 0.91
    assert not covers_as_claimed([found], LONG)


def exact_coverage(n: int) -> np.ndarray:
    """The coverage of the interval of a share, summed over all outcomes, for p = .02, .03, ... .98."""
    hits = np.arange(n + 1)
    low, high = interval.wilson(hits, n)
    log_ways = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in hits])
    shares = np.arange(2, 99) / 100
    return np.array(
        [
            np.exp(log_ways + hits * np.log(p) + (n - hits) * np.log1p(-p))[(low <= p) & (p <= high)].sum()
            for p in shares
        ]
    )


@pytest.mark.parametrize("n", [30, 40, 75, 100, 200, 300, 1_000])
def test_shares_cover_by_exact_summation(n: int) -> None:
    found = exact_coverage(n)
    assert found.min() >= 0.925
    assert 0.94 <= found.mean() <= 0.96


@pytest.mark.parametrize(("n", "least"), [(10, 0.913), (15, 0.914), (20, 0.924), (25, 0.911), (50, 0.921)])
def test_a_few_small_sizes_dip_below_at_single_shares(n: int, least: float) -> None:
    """Wilson's interval dips where p meets the last outcome it leaves out (n=25 at p=.98); the mean holds."""
    found = exact_coverage(n)
    assert least <= found.min() < 0.925
    assert 0.94 <= found.mean() <= 0.96


def percentile_f1(rng: np.random.Generator) -> tuple[Interval | None, float]:
    pairs = answers(rng, TABLES[".98/.98"], 30)
    cells = rng.multinomial(30, pairs.confusion().ravel() / 30, size=500)
    tp, rest = cells[:, 3], cells[:, 1] + cells[:, 2]
    scores = 2 * tp / np.maximum(2 * tp + rest, 1)
    low, high = np.quantile(scores, [0.025, 0.975])
    return Interval(low=low, high=high, method="percentile"), 0.98


def naive_wilson(rng: np.random.Generator) -> tuple[Interval | None, float]:
    hits = clustered_hits(rng, 0.7, 0.2, 57, 20)
    return of(interval.ratio(hits, np.ones_like(hits)), 0.7)


def plain_t(rng: np.random.Generator) -> tuple[Interval | None, float]:
    values = mostly_ones(rng, 0.97, 30)
    half = t_value(0.95, 29) * values.std(ddof=1) / math.sqrt(30)
    return Interval(low=values.mean() - half, high=values.mean() + half, method="t"), 0.985


@pytest.mark.parametrize("usual", [percentile_f1, naive_wilson, plain_t])
def test_the_usual_recipes_fail_the_same_check(usual: Cell, covers_as_claimed: Check) -> None:
    found = coverage(usual, 600)
    assert found < 0.75
    assert not covers_as_claimed([found], 600)
