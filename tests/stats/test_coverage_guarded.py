"""Do guarded intervals cover where rare extreme values decide the mean, and what does that cost in width?

Every cell is measured with the method of version 0.1 beside it, on the same data. `make coverage-study` prints the
tables of the long form (4,000 runs a cell); the short form runs with the other tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import gammaln

from assay.stats import interval
from assay.stats.calibration import UNSEEN, LabelledScores, _Parts, calibrate
from assay.stats.label_sampling import chances_to_label, drawn
from assay.stats.paired import paired, verdict
from assay.types import Interval

Check = Callable[[list[float], int], bool]
Bounds = tuple[float, float]
SHORT, LONG = 150, 4_000


@dataclass(frozen=True)
class Draw:
    """The interval of one data set, the one that 0.1 gave, and the truth."""

    now: Bounds
    before: Bounds
    truth: float


@dataclass(frozen=True)
class Row:
    """What a cell came to: coverage before and now, and how much wider the interval is."""

    before: float
    now: float
    width: float


Cell = Callable[[np.random.Generator], Draw]


def ends(found: Interval | None) -> Bounds:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def measured(cell: Cell, runs: int, seed: int = 7) -> Row:
    rng = np.random.default_rng(seed)
    draws = [cell(rng) for _ in range(runs)]

    def share(sides: Iterable[tuple[Bounds, float]]) -> float:
        return float(np.mean([low - 1e-12 <= truth <= high + 1e-12 for (low, high), truth in sides]))

    wide = sum(d.now[1] - d.now[0] for d in draws) / sum(d.before[1] - d.before[0] for d in draws)
    return Row(
        before=share((d.before, d.truth) for d in draws),
        now=share((d.now, d.truth) for d in draws),
        width=wide,
    )


def table(title: str, rows: Mapping[str, Row]) -> None:
    print(f"\n{title:<46} 0.1     now     width")
    for name, row in rows.items():
        print(f"  {name:<44} {row.before:.3f}   {row.now:.3f}   {row.width:.2f} x")


def mean_cell(draw: Callable[[np.random.Generator], np.ndarray], truth: float, ids: np.ndarray | None = None) -> Cell:
    def cell(rng: np.random.Generator) -> Draw:
        values = draw(rng)
        now = interval.mean(values, ids, rng=rng, bounds=(0, 1)).interval
        return Draw(ends(now), ends(interval.ratio(values, np.ones_like(values), ids).interval), truth)

    return cell


def ones_and_uniform(share: float, n: int) -> Cell:
    return mean_cell(lambda rng: np.where(rng.random(n) < share, 1.0, rng.random(n)), (1 + share) / 2)


def levels(n: int, values: tuple[float, ...], shares: tuple[float, ...]) -> Cell:
    truth = float(np.dot(values, shares))
    return mean_cell(lambda rng: rng.choice(values, p=shares, size=n), truth)


def documents(sizes: np.ndarray, share: float) -> Cell:
    """Rows of a document that is fine throughout, or has a share of uniform grades of its own."""
    ids = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator) -> np.ndarray:
        bad = np.where(rng.random(len(sizes)) < share, 1.0, 0.0)[ids] * (rng.random(len(ids)) < 0.7)
        return np.where(bad == 1, rng.random(len(ids)), 1.0)

    return mean_cell(draw, 1 - 0.35 * share, ids)


def unbiased_pass_cell(n: int, trials: int, k: int) -> Cell:
    """Unbiased pass@k of samples whose chance of success is Beta(5, 1)."""
    truth = 1 - math.exp(gammaln(5 + 1) - gammaln(5 + 1 + k) + gammaln(1 + k) - gammaln(1))

    def draw(rng: np.random.Generator) -> np.ndarray:
        right = rng.binomial(trials, rng.beta(5, 1, n))
        return np.array([1 - math.comb(trials - int(c), k) / math.comb(trials, k) for c in right])

    return mean_cell(draw, truth)


SIZES = (20, 50, 100, 200, 300)
RUBRIC = (0.0, 0.25, 0.5, 0.75, 1.0)
MEANS: dict[str, Cell] = {
    **{f"97 % ones, the rest uniform, n={n}": ones_and_uniform(0.97, n) for n in SIZES},
    **{f"90 % ones, the rest uniform, n={n}": ones_and_uniform(0.9, n) for n in (20, 100)},
    **{f"98 % 1, 1 % .9, 1 % 0, n={n}": levels(n, (1.0, 0.9, 0.0), (0.98, 0.01, 0.01)) for n in SIZES},
    **{f"rubric, 90 % top, n={n}": levels(n, RUBRIC, (0.01, 0.01, 0.03, 0.05, 0.9)) for n in (20, 100)},
    "rubric, even, n=50": levels(50, RUBRIC, (0.1, 0.2, 0.3, 0.2, 0.2)),
    "uniform, n=50": mean_cell(lambda rng: rng.random(50), 0.5),
    "beta(5, 1), n=50": mean_cell(lambda rng: rng.beta(5, 1, 50), 5 / 6),
    "beta(20, 1), n=50": mean_cell(lambda rng: rng.beta(20, 1, 50), 20 / 21),
}
WIDEST_MEAN = 1.2
LOGNORMAL = np.maximum(1, np.round(np.random.default_rng(5).lognormal(1.5, 1, 60))).astype(int)
CLUSTERED: dict[str, Cell] = {
    "40 documents of 5": documents(np.full(40, 5), 0.1),
    "100 documents of 4": documents(np.full(100, 4), 0.05),
    "60 documents of lognormal sizes": documents(LOGNORMAL, 0.08),
    "40 documents of 1 to 20": documents(np.arange(40) // 2 + 1, 0.1),
    "100 documents, one in ten of 30, others of 3": documents(np.where(np.arange(100) % 10 == 0, 30, 3), 0.08),
}
TRIALS: dict[str, Cell] = {
    "pass@5 of 10 trials, n=100": unbiased_pass_cell(100, 10, 5),
    "pass@3 of 5 trials, n=50": unbiased_pass_cell(50, 5, 3),
}


def random_cell(rng: np.random.Generator) -> tuple[str, Cell]:
    """A mean of values of which most are equal, as nobody chose it."""
    n, share = int(rng.integers(20, 301)), float(rng.uniform(0.5, 0.99))
    common = float(rng.choice([1.0, 0.0, round(rng.uniform(0, 1), 2)], p=[0.6, 0.2, 0.2]))
    a, b = rng.choice([0.5, 1.0, 2.0, 5.0], size=2)
    name = f"{share:.0%} {common:g}, the rest beta({a:g}, {b:g}), n={n}"
    truth = share * common + (1 - share) * a / (a + b)
    return name, mean_cell(lambda r: np.where(r.random(n) < share, common, r.beta(a, b, n)), float(truth))


def random_cells(number: int, seed: int = 2_026_11) -> dict[str, Cell]:
    rng = np.random.default_rng(seed)
    return dict(random_cell(rng) for _ in range(number))


FAMILIES = {"means": MEANS, "clusters": CLUSTERED, "unbiased pass@k": TRIALS}


@pytest.mark.parametrize("family", FAMILIES)
def test_guarded_intervals_cover(family: str, covers_at_least: Check) -> None:
    rows = {name: measured(cell, SHORT) for name, cell in FAMILIES[family].items()}
    assert covers_at_least([row.now for row in rows.values()], SHORT), rows


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_guarded_intervals_cover_in_the_long_run(family: str, covers_at_least: Check) -> None:
    rows = {name: measured(cell, LONG) for name, cell in FAMILIES[family].items()}
    table(family, rows)
    assert covers_at_least([row.now for row in rows.values()], LONG)
    if family == "means":
        assert max(row.width for row in rows.values() if row.before >= 0.93) <= WIDEST_MEAN


@pytest.mark.slow
def test_guarded_intervals_cover_in_random_cells(covers_at_least: Check) -> None:
    rows = {name: measured(cell, LONG) for name, cell in random_cells(100).items()}
    table("100 random cells", rows)
    assert covers_at_least([row.now for row in rows.values()], LONG)


def exact_coverage(n: int, values: tuple[float, float, float], shares: tuple[float, float, float]) -> Row:
    """The coverage of the mean of three-valued data, summed over all outcomes that matter."""
    truth = float(np.dot(values, shares))
    rare = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    counts = np.array([(n - i - j, i, j) for i, j in rare])
    chances = np.exp(gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(shares))
    covered, before, widths = 0.0, 0.0, np.zeros(2)
    likely = chances > 1e-7
    rng = np.random.default_rng(1)
    for count, chance in zip(counts[likely], chances[likely], strict=True):
        there = np.asarray(values)[count > 0]
        now = ends(interval.mean(there, counts=count[count > 0], rng=rng, bounds=(0, 1)).interval)
        old = ends(interval.ratio(there, np.ones_like(there), counts=count[count > 0]).interval)
        covered += chance * (now[0] <= truth <= now[1])
        before += chance * (old[0] <= truth <= old[1])
        widths += chance * np.array([now[1] - now[0], old[1] - old[0]])
    return Row(before=before, now=covered, width=widths[0] / widths[1])


RARE_ZEROS = (1.0, 0.9, 0.0), (0.98, 0.01, 0.01)
EXACT_SIZES = (20, 40, 60, 100, 150, 200, 300)


@pytest.mark.parametrize("n", [100, 300])
def test_three_valued_means_cover_by_exact_summation(n: int) -> None:
    assert exact_coverage(n, *RARE_ZEROS).now >= 0.93 - 0.001


@pytest.mark.slow
def test_three_valued_means_cover_by_exact_summation_at_all_sizes() -> None:
    rows = {
        f"98 % 1, 1 % .9, 1 % 0, n={n}": exact_coverage(n, (1.0, 0.9, 0.0), (0.98, 0.01, 0.01)) for n in EXACT_SIZES
    }
    table("exact", rows)
    assert min(row.now for row in rows.values()) >= 0.93 - 0.001


def test_the_method_of_0_1_fails_the_same_check(covers_at_least: Check) -> None:
    row = measured(levels(100, (1.0, 0.9, 0.0), (0.98, 0.01, 0.01)), 400)
    assert not covers_at_least([row.before], 400)
    assert covers_at_least([row.now], 400)


Gaps = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Verdicts:
    """How often a difference is called clear, by 0.1 and now, and the coverage and the width of its interval."""

    before: float
    now: float
    row: Row


def few_change(n: int, *kinds: tuple[float, float]) -> Gaps:
    """Most items tie; each kind is a share of items and the difference that they have."""
    shares = [share for share, _ in kinds]
    sizes = [size for _, size in kinds]
    return lambda rng: rng.choice([*sizes, 0.0], p=[*shares, 1 - sum(shares)], size=n)


def either_way(n: int) -> Gaps:
    return lambda rng: np.where(rng.random(n) < 0.05, rng.uniform(-1, 1, n), 0.0)


def up_by_uniform(n: int) -> Gaps:
    return lambda rng: np.where(rng.random(n) < 0.05, rng.random(n), 0.0)


def decided(gaps: Gaps, truth: float, runs: int, seed: int = 7) -> Verdicts:
    rng = np.random.default_rng(seed)
    draws, clear, clear_before = [], 0, 0
    for _ in range(runs):
        gap = gaps(rng)
        before = np.where(gap < 0, 1.0, 0.0)
        found = paired(before, before + gap, rng=np.random.default_rng(1), bounds=(0, 1))
        clear += verdict(found, found.p) != "no clear difference"
        clear_before += verdict(found, found.p) != "no clear difference" or found.clear_but_for_guard(found.p)
        now = ends(found.difference.interval)
        draws.append(Draw(now, now if found.unguarded is None else ends(found.unguarded), truth))
    again = iter(draws)
    return Verdicts(clear_before / runs, clear / runs, measured(lambda _: next(again), runs))


NULLS: dict[str, Gaps] = {
    **{f"10 % up .1, 1 % down 1, n={n}": few_change(n, (0.1, 0.1), (0.01, -1.0)) for n in (30, 50, 100, 200, 500)},
    **{f"20 % up .05, 1 % down 1, n={n}": few_change(n, (0.2, 0.05), (0.01, -1.0)) for n in (30, 100, 300)},
    **{f"5 % up or down by U, n={n}": either_way(n) for n in (30, 100, 500)},
}
# The mean difference, and the least power that is asked for.
REAL: dict[str, tuple[Gaps, float, float]] = {
    "5 % up by U, n=200": (up_by_uniform(200), 0.025, 0.75),
    "10 % up .2, n=200": (few_change(200, (0.1, 0.2)), 0.02, 0.85),
}


def verdict_table(title: str, rows: Mapping[str, Verdicts]) -> None:
    print(f"\n{title:<40} clear: 0.1   now     covers: 0.1   now     width")
    for name, each in rows.items():
        row = each.row
        clear = f"{each.before:.3f}   {each.now:.3f}"
        print(f"  {name:<44} {clear}           {row.before:.3f}   {row.now:.3f}   {row.width:.2f} x")


@pytest.mark.parametrize("null", ["10 % up .1, 1 % down 1, n=100", "5 % up or down by U, n=100"])
def test_where_nothing_differs_a_clear_verdict_is_rare(null: str) -> None:
    assert decided(NULLS[null], 0.0, SHORT).now <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / SHORT)


def test_without_the_guard_false_verdicts_are_frequent() -> None:
    assert decided(NULLS["10 % up .1, 1 % down 1, n=100"], 0.0, SHORT).before > 0.2


@pytest.mark.parametrize("name", REAL)
def test_real_differences_are_found(name: str) -> None:
    gaps, truth, power = REAL[name]
    assert decided(gaps, truth, SHORT).now >= power - 3 * math.sqrt(power * (1 - power) / SHORT)


@pytest.mark.slow
def test_where_nothing_differs_a_clear_verdict_is_rare_in_the_long_run(covers_at_least: Check) -> None:
    rows = {name: decided(gaps, 0.0, LONG) for name, gaps in NULLS.items()}
    verdict_table("no difference", rows)
    assert max(each.now for each in rows.values()) <= 0.05 + 0.01
    assert covers_at_least([each.row.now for each in rows.values()], LONG)


@pytest.mark.slow
def test_real_differences_are_found_in_the_long_run(covers_at_least: Check) -> None:
    rows = {name: decided(gaps, truth, LONG) for name, (gaps, truth, _) in REAL.items()}
    verdict_table("a difference", rows)
    assert all(rows[name].now >= power for name, (_, _, power) in REAL.items())
    assert covers_at_least([each.row.now for each in rows.values()], LONG)


def corrected(labelled: LabelledScores, truth: float) -> Draw:
    now = calibrate(labelled, rng=np.random.default_rng(1)).estimate.interval
    # The interval of 0.1 is still one half of the hull.
    return Draw(ends(now), ends(_Parts.of(labelled, unseen=UNSEEN).interval(0.95, bounded=True)), truth)


def judge_cell(p: float, se: float, sp: float, labels: int, rest: int = 2_000) -> Cell:
    def cell(rng: np.random.Generator) -> Draw:
        truth = (rng.random(labels + rest) < p).astype(float)
        right = rng.random(labels + rest) < np.where(truth == 1, se, sp)
        judged = np.where(right, truth, 1 - truth)
        return corrected(LabelledScores(labels=truth[:labels], judged=judged[:labels], rest=judged[labels:]), p)

    return cell


def graded_judge(labels: int, wrong: float) -> Cell:
    """People grade 1 in most cases; the judge says the same, but for a share that it grades at random."""

    def cell(rng: np.random.Generator) -> Draw:
        truth = np.where(rng.random(labels + 1_000) < 0.9, 1.0, rng.choice([0.0, 0.5], size=labels + 1_000))
        judged = np.where(rng.random(labels + 1_000) < wrong, rng.choice([0.0, 0.5, 1.0], labels + 1_000), truth)
        return corrected(
            LabelledScores(labels=truth[:labels], judged=judged[:labels], rest=judged[labels:]), 0.9 + 0.1 * 0.25
        )

    return cell


def weighted_labels(labels: int) -> Cell:
    """The judge gives chances near 1 that are right on average; the doubtful are labelled more often."""

    def cell(rng: np.random.Generator) -> Draw:
        judged = rng.beta(9, 0.6, 1_000)
        truth = (rng.random(1_000) < judged).astype(float)
        chances = chances_to_label(np.sqrt(judged * (1 - judged)), labels)
        chosen = np.zeros(1_000, dtype=bool)
        chosen[drawn(chances, rng=rng)] = True
        labelled = LabelledScores(
            labels=truth[chosen],
            judged=judged[chosen],
            rest=judged[~chosen],
            chances=chances[chosen],
            rest_chances=chances[~chosen],
        )
        return corrected(labelled, 9 / 9.6)

    return cell


def judged_documents(labelled: int, rest: int, size: int) -> Cell:
    """Answers about a document are alike, and so are the judge's rare errors; whole documents are labelled."""
    ids = np.repeat(np.arange(labelled + rest), size)

    def cell(rng: np.random.Generator) -> Draw:
        truth = (rng.random(len(ids)) < rng.beta(9, 1, labelled + rest)[ids]).astype(float)
        wrong = rng.random(len(ids)) < rng.beta(0.5, 9, labelled + rest)[ids]
        judged, cut = np.where(wrong, 1 - truth, truth), labelled * size
        found = LabelledScores(
            labels=truth[:cut], judged=judged[:cut], rest=judged[cut:], clusters=ids[:cut], rest_clusters=ids[cut:]
        )
        return corrected(found, 0.9)

    return cell


GRID = (0.9, 0.95, 0.98, 0.99)
JUDGES: dict[str, Cell] = {
    **{
        f"p={p}, se={se}, sp={sp}, {n} labels": judge_cell(p, se, sp, n)
        for p, se, sp, n in (
            (0.98, 0.98, 0.98, 200),
            (0.98, 0.98, 0.98, 300),
            (0.9, 0.9, 0.9, 50),
            (0.9, 0.99, 0.9, 50),
            (0.99, 0.99, 0.99, 300),
            (0.95, 0.9, 0.99, 100),
            (0.95, 0.98, 0.95, 150),
        )
    },
    "grades, 3 % misjudged, 100 labels": graded_judge(100, 0.03),
    "weighted labels, 100": weighted_labels(100),
    "30 documents of 8 labelled": judged_documents(30, 150, 8),
}
WIDEST_JUDGE = 1.15


def test_corrected_judges_cover(covers_at_least: Check) -> None:
    rows = {name: measured(cell, SHORT) for name, cell in JUDGES.items()}
    assert covers_at_least([row.now for row in rows.values()], SHORT), rows


def judge_grid(p: float) -> dict[str, Cell]:
    return {
        f"p={p}, se={se}, sp={sp}, {n} labels": judge_cell(p, se, sp, n)
        for se in GRID
        for sp in GRID
        for n in (50, 100, 200, 300)
    }


@pytest.mark.slow
@pytest.mark.parametrize("cells", [JUDGES, *map(judge_grid, GRID)], ids=["chosen", *(f"p={p}" for p in GRID)])
def test_corrected_judges_cover_in_the_long_run(cells: dict[str, Cell], covers_at_least: Check) -> None:
    rows = {name: measured(cell, LONG) for name, cell in cells.items()}
    table("corrected judges", rows)
    assert covers_at_least([row.now for row in rows.values()], LONG)
    # Labels in clusters have no limit of width.
    widths = [row.width for name, row in rows.items() if row.before >= 0.93 and "documents" not in name]
    assert max(widths, default=1.0) <= WIDEST_JUDGE


def exact_recall(samples: int, positives: float, recall: float) -> Row:
    """Recall over samples of which a share is positive, summed over all outcomes that have any."""
    covered = before = total = 0.0
    for n in range(1, samples + 1):
        for hits in range(n + 1):
            log_n = gammaln(samples + 1) - gammaln(n + 1) - gammaln(samples - n + 1)
            log_hits = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
            chance = math.exp(
                log_n
                + n * math.log(positives)
                + (samples - n) * math.log1p(-positives)
                + log_hits
                + hits * math.log(recall)
                + (n - hits) * math.log1p(-recall)
            )
            if chance < 1e-9:
                continue
            found = np.repeat([1.0, 0.0], [hits, n - hits])
            now, old = (ends(way(found, np.ones(n)).interval) for way in (interval.rate, interval.ratio))
            total += chance
            covered += chance * (now[0] <= recall <= now[1])
            before += chance * (old[0] <= recall <= old[1])
    return Row(before=before / total, now=covered / total, width=1.0)


RECALLS = [(30, 0.1, 0.9), (30, 0.1, 0.98), (50, 0.1, 0.95), (30, 0.2, 0.8), (20, 0.2, 0.9), (40, 0.1, 0.7)]


@pytest.mark.parametrize(("samples", "positives", "recall"), RECALLS)
def test_recall_with_few_to_find_covers_by_exact_summation(samples: int, positives: float, recall: float) -> None:
    row = exact_recall(samples, positives, recall)
    print(f"recall {recall}, {positives:.0%} of {samples} positive: {row.before:.3f} -> {row.now:.3f}")
    assert row.now >= 0.93 - 0.001
