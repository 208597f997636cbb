"""Intervals that did not change since version 0.1: F1, kappa, alpha, correlations, errors, and means without a range.

Beside their cells stand the recipes that people usually take in their place, which must break the same bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

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
from bench.coverage import judges, pairs
from bench.coverage.measure import Bound, Cell, Draw, Family, Measured, both, simulated

Trial = Callable[[np.random.Generator], tuple[Interval | None, float]]


def cells(trials: Mapping[str, Trial]) -> list[Cell]:
    """The trials by name as cells; a name that ends in "n=..." gives the size."""

    def cell(name: str, trial: Trial) -> Cell:
        size = re.search(r", n=(\d+)", name)

        def source(rng: np.random.Generator) -> Draw | None:
            now, truth = trial(rng)
            return both(now, now, truth)

        return simulated(name.replace(size[0], "") if size else name, int(size[1]) if size else 0, source)

    return [cell(name, trial) for name, trial in trials.items()]


def of(value: MetricValue, truth: float) -> tuple[Interval | None, float]:
    """The interval of a value beside the truth."""
    return value.interval, truth


def unbounded(draw: Callable[[np.random.Generator], np.ndarray], truth: float) -> Trial:
    return lambda rng: of(interval.mean(draw(rng), rng=rng), truth)


MEANS: dict[str, Trial] = {
    "lognormal, n=30": unbounded(lambda rng: rng.lognormal(size=30), math.exp(0.5)),
    "exponential, n=30": unbounded(lambda rng: rng.exponential(size=30), 1.0),
    "normal, n=10": unbounded(lambda rng: rng.normal(size=10), 0.0),
    "counts, n=30": unbounded(lambda rng: rng.poisson(1.0, size=30), 1.0),
    "ratings, n=30": unbounded(lambda rng: rng.choice([1, 2, 3, 4, 5], p=[0.02, 0.03, 0.05, 0.2, 0.7], size=30), 4.53),
}


def mostly_ones(rng: np.random.Generator, share: float, n: int) -> np.ndarray:
    """A share of ones, and uniform values."""
    return np.where(rng.random(n) < share, 1.0, rng.random(n))


def answers(rng: np.random.Generator, table: Sequence[Sequence[float]], n: int) -> Pairs:
    cells = np.asarray(table, dtype=np.float64)
    drawn = rng.choice(cells.size, p=cells.ravel() / cells.sum(), size=n)
    return Pairs(*np.divmod(drawn, len(cells)), len(cells))


def f1_cell(sensitivity: float, specificity: float, n: int) -> Trial:
    tp, fn, fp = sensitivity / 2, (1 - sensitivity) / 2, (1 - specificity) / 2
    table = [[specificity / 2, fp], [fn, tp]]
    truth = 2 * tp / (2 * tp + fp + fn)
    return lambda rng: of(binary(answers(rng, table, n))["f1_score"], truth)


F1: dict[str, Trial] = {
    ".98/.98, n=30": f1_cell(0.98, 0.98, 30),
    ".98/.98, n=200": f1_cell(0.98, 0.98, 200),
    ".9/.8, n=30": f1_cell(0.9, 0.8, 30),
    ".6/.7, n=100": f1_cell(0.6, 0.7, 100),
}


def clustered_hits(rng: np.random.Generator, share: float, icc: float, groups: int, size: int) -> np.ndarray:
    spread = (1 - icc) / icc
    own = rng.beta(share * spread, (1 - share) * spread, size=groups)
    return (rng.random((groups, size)) < own[:, None]).astype(float).ravel()


def clustered(share: float, icc: float, groups: int, size: int) -> Trial:
    ids = np.repeat(np.arange(groups), size)

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        hits = clustered_hits(rng, share, icc, groups, size)
        return of(interval.ratio(hits, np.ones_like(hits), ids), share)

    return cell


def items_in_documents(rng: np.random.Generator) -> tuple[Interval | None, float]:
    """Recall of counts: 40 documents hold a number of items, which are easy to find in some and hard in others."""
    things = 1 + rng.poisson(3, size=40)
    hits = rng.binomial(things, rng.beta(8, 2, size=40))
    return of(interval.ratio(hits, things), 0.8)


CLUSTERED: dict[str, Trial] = {
    "57 documents of 20, icc .2, n=1140": clustered(0.7, 0.2, 57, 20),
    "30 documents of 5, icc .5, p=.9, n=150": clustered(0.9, 0.5, 30, 5),
    "15 documents of 4, icc .3, n=60": clustered(0.6, 0.3, 15, 4),
    "recall of counts in documents, n=40": items_in_documents,
}

TABLES: dict[str, Sequence[Sequence[float]]] = {
    ".98/.98": [[0.49, 0.01], [0.01, 0.49]],
    "one in ten": [[0.855, 0.045], [0.005, 0.095]],
    "three classes": [[0.7, 0.03, 0.02], [0.03, 0.1, 0.02], [0.01, 0.02, 0.07]],
    "five classes": (np.eye(5) * 0.88 / 5 + 0.12 / 25).tolist(),
}


def table_cell(table: Sequence[Sequence[float]], n: int, statistic: classification.Statistic) -> Trial:
    truth = float(statistic(classification.marginals(table)))
    return lambda rng: of(bayes.table_value(answers(rng, table, n), statistic, rng=rng), truth)


TABLE_VALUES: dict[str, Trial] = {
    "kappa .98/.98, n=30": table_cell(TABLES[".98/.98"], 30, classification.kappa),
    "kappa, one in ten, n=30": table_cell(TABLES["one in ten"], 30, classification.kappa),
    "kappa, three classes, n=100": table_cell(TABLES["three classes"], 100, classification.kappa),
    "kappa, five classes, n=30": table_cell(TABLES["five classes"], 30, classification.kappa),
    "mcc .98/.98, n=30": table_cell(TABLES[".98/.98"], 30, classification.matthews),
    "macro F1, three classes, n=100": table_cell(TABLES["three classes"], 100, classification.macro_f1),
    "macro F1, five classes, n=100": table_cell(TABLES["five classes"], 100, classification.macro_f1),
}


def correlated(name: str, slope: float, n: int) -> Trial:
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


CORRELATIONS: dict[str, Trial] = {
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
    sums: Callable[[Ratings], Additive],
    shares: Sequence[float],
    n: int,
    *,
    raters: int = 3,
    error: float = 0.06,
    gaps: float = 0.0,
) -> Trial:
    """Two raters see the item's option with the chance (1 - error)^2, else agree by chance: that is their kappa."""
    seen = (1 - error) ** 2
    return lambda rng: of(bootstrapped(sums(votes(rng, shares, n, raters, error=error, gaps=gaps)), rng=rng), seen)


def rated_by_gwet(weighting: Weighting, shares: Sequence[float], n: int) -> Trial:
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


AGREEMENT: dict[str, Trial] = {
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


def intraclass_cell(n: int, raters: int, error: float) -> Trial:
    level = 0.3 * (np.arange(raters) - (raters - 1) / 2)
    truth = float(1 / (1 + level.var(ddof=1) + error**2))

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        table = rng.normal(size=(n, 1)) + level + error * rng.normal(size=(n, raters))
        return of(intraclass(table).single, truth)

    return cell


def judges_cell(n: int, judges: int, r: float) -> Trial:
    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        table = math.sqrt(r) * rng.normal(size=(n, 1)) + math.sqrt(1 - r) * rng.normal(size=(n, judges))
        return of(effective_judges(table), judges / (1 + (judges - 1) * r))

    return cell


def clustered_correlation(name: str) -> Trial:
    """Thirty clusters of five pairs that share part of both sides."""
    ids, r = np.repeat(np.arange(30), 5), 0.6
    truth = {"pearson": r, "spearman": 6 / math.pi * math.asin(r / 2)}[name]

    def cell(rng: np.random.Generator) -> tuple[Interval | None, float]:
        shared, own = rng.normal(size=(2, 30))[:, ids], rng.normal(size=(2, 150))
        x, e = math.sqrt(0.5) * shared + math.sqrt(0.5) * own
        return of(correlation(x, r * x + math.sqrt(1 - r**2) * e, name, ids), truth)  # type: ignore[arg-type]

    return cell


INTRACLASS: dict[str, Trial] = {
    "ICC, 3 raters, n=30": intraclass_cell(30, 3, 0.5),
    "ICC, 5 raters, n=15": intraclass_cell(15, 5, 1.0),
    "effective judges, n=30": judges_cell(30, 5, 0.2),
    "effective judges, n=100": judges_cell(100, 3, 0.5),
    "pearson, 30 clusters, n=150": clustered_correlation("pearson"),
    "spearman, 30 clusters, n=150": clustered_correlation("spearman"),
}


def errors_cell(name: str, n: int, share: float, sides: Sequence[float]) -> Trial:
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


ERRORS: dict[str, Trial] = {
    f"{name}, {share}, n={n}": errors_cell(name, n, share, sides)
    for name in ("bias", "mae", "rmse")
    for n, share, sides in ((100, 0.2, (0.25, -0.25)), (100, 0.03, (0.25,)), (30, 0.5, (0.25, 0.1)))
}


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


def percentile_alpha(rng: np.random.Generator) -> tuple[Interval | None, float]:
    """What is usually done: resampling items, without pseudo-items."""
    sums = alpha_sums(votes(rng, EVEN, 30, 2, error=0.03))
    drawn = sums.value(rng.multinomial(30, np.full(30, 1 / 30), size=300) @ sums.rows)
    low, high = np.quantile(drawn[~np.isnan(drawn)], [0.025, 0.975])
    return Interval(low=low, high=high, method="percentile"), 0.97**2


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


def share_cell(name: str, n: int, over_shares: Callable[[np.ndarray], float]) -> Cell:
    """Wilson's interval: the lowest or the mean coverage over p = .02, .03, ... .98."""

    def measure(_runs: int, _seed: int) -> Measured:
        coverage = float(over_shares(exact_coverage(n)))
        return Measured(runs=0, now=coverage, before=coverage)

    return Cell(f"{name} over p = .02 to .98", n, measure)


CONTROLS = {
    "percentile bootstrap of F1, .98/.98, n=30": percentile_f1,
    "Wilson without clusters, 57 documents of 20, n=1140": naive_wilson,
    "t interval, 97 % ones, n=30": plain_t,
    "percentile bootstrap of alpha, n=30": percentile_alpha,
    "macro F1, three classes, two of them rare, n=30": table_cell(TABLES["three classes"], 30, classification.macro_f1),
}
# Each of these intervals takes 9,999 resamples: 4,000 runs would take longer than all other families together.
RESAMPLED_RUNS = 2_000
# Wilson's interval dips where a share meets the last outcome that it leaves out, such as n=25 at .98.
DIPPING_SIZES = (10, 15, 20, 25, 50)
STEADY_SIZES = (30, 40, 75, 100, 200, 300, 1_000)
SHARE_SIZES = tuple(sorted(DIPPING_SIZES + STEADY_SIZES))
AS_CLAIMED = Bound(least=0.91, mean=(0.935, 0.965))
FAMILIES = {
    "shares": lambda: Family(
        "shares, exact", [share_cell("lowest", n, np.min) for n in STEADY_SIZES], Bound(least=0.925)
    ),
    "share_dips": lambda: Family(
        "shares, exact", [share_cell("lowest", n, np.min) for n in DIPPING_SIZES], Bound(least=0.91)
    ),
    "share_means": lambda: Family(
        "shares, exact", [share_cell("mean", n, np.mean) for n in SHARE_SIZES], Bound(least=0.94, mean=(0.94, 0.96))
    ),
    "f1": lambda: Family("F1", cells(F1), AS_CLAIMED),
    "hits": lambda: Family("shares and recall, clusters", cells(CLUSTERED), AS_CLAIMED),
    "tables": lambda: Family("kappa, MCC, macro F1", cells(TABLE_VALUES), AS_CLAIMED, runs=RESAMPLED_RUNS),
    "agreement": lambda: Family("alpha, Fleiss, AC, weighted kappa", cells(AGREEMENT), AS_CLAIMED, runs=RESAMPLED_RUNS),
    "unbounded": lambda: Family("means without a range", cells(MEANS), AS_CLAIMED, runs=RESAMPLED_RUNS),
    "correlations": lambda: Family("correlations", cells(CORRELATIONS), AS_CLAIMED),
    "intraclass": lambda: Family("ICC, effective judges", cells(INTRACLASS), AS_CLAIMED),
    "errors": lambda: Family("bias, MAE, RMSE", cells(ERRORS), Bound(least=0.93)),
    "controls": lambda: Family(
        "negative controls",
        [*cells(CONTROLS), *pairs.CONTROLS, *judges.CONTROLS],
        Bound(least=0.91, control=True),
    ),
}
