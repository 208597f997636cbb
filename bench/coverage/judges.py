"""Judges corrected by labels, Rogan and Gladen's estimate, and recall with few to find."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.special import gammaln

from assay.stats import interval
from assay.stats.calibration import UNSEEN, LabelledScores, _estimate_interval, _Parts, calibrate
from assay.stats.label_sampling import chances_to_label, drawn
from assay.stats.rogan_gladen import rogan_gladen
from assay.types import MetricValue
from bench.coverage.measure import Bound, Cell, Draw, Ends, Family, Weighted, both, ends, exact, simulated

GRID = (0.9, 0.95, 0.98, 0.99)
LABELS = (50, 100, 200, 300)
REST = 2_000


def corrected(labelled: LabelledScores, truth: float) -> Draw | None:
    """The interval of the corrected mean; that of version 0.1 is one half of the hull."""
    parts = _Parts.of(labelled, unseen=UNSEEN)
    now = _estimate_interval(labelled, parts, 0.95, bounded=True)
    return both(now, parts.interval(0.95, bounded=True), truth)


def judged(rng: np.random.Generator, n: int, rates: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Labels of n samples and the verdicts of the judge: share of yes, sensitivity, specificity."""
    share, se, sp = rates
    yes = rng.binomial(n, share)
    hits, rejected = rng.binomial(yes, se), rng.binomial(n - yes, sp)
    counts = (hits, yes - hits, n - yes - rejected, rejected)
    return np.repeat([1.0, 1.0, 0.0, 0.0], counts), np.repeat([1.0, 0.0, 1.0, 0.0], counts)


def judge_cell(share: float, se: float, sp: float, labels: int, rest: int = REST) -> Cell:
    """A yes/no judge, labels drawn at random."""

    def source(rng: np.random.Generator) -> Draw | None:
        truth, verdicts = judged(rng, labels, (share, se, sp))
        _, others = judged(rng, rest, (share, se, sp))
        return corrected(LabelledScores(labels=truth, judged=verdicts, rest=others), share)

    return simulated(f"share {share:g}, se {se:g}, sp {sp:g}", labels, source)


def graded_judge(labels: int, wrong: float) -> Cell:
    """People grade 1 in most cases; the judge agrees, but grades a share at random."""

    def source(rng: np.random.Generator) -> Draw | None:
        n = labels + 1_000
        truth = np.where(rng.random(n) < 0.9, 1.0, rng.choice([0.0, 0.5], size=n))
        verdicts = np.where(rng.random(n) < wrong, rng.choice([0.0, 0.5, 1.0], n), truth)
        return corrected(LabelledScores(labels=truth[:labels], judged=verdicts[:labels], rest=verdicts[labels:]), 0.925)

    return simulated(f"grades, {wrong:.0%} misjudged", labels, source)


def weighted_labels(labels: int, a: float, b: float) -> Cell:
    """The judge gives chances that are right on average; the doubtful are labelled more often."""

    def source(rng: np.random.Generator) -> Draw | None:
        verdicts = rng.beta(a, b, 1_000)
        truth = (rng.random(1_000) < verdicts).astype(float)
        chances = chances_to_label(np.sqrt(verdicts * (1 - verdicts)), labels)
        chosen = np.zeros(1_000, dtype=bool)
        chosen[drawn(chances, rng=rng)] = True
        labelled = LabelledScores(
            labels=truth[chosen],
            judged=verdicts[chosen],
            rest=verdicts[~chosen],
            chances=chances[chosen],
            rest_chances=chances[~chosen],
        )
        return corrected(labelled, a / (a + b))

    return simulated(f"suggested labels, chances beta({a:g}, {b:g})", labels, source)


def judged_documents(labelled: int, rest: int, right: tuple[float, float], wrong: tuple[float, float]) -> Cell:
    """Answers about a document are alike, and so are the judge's errors; whole documents of 8 are labelled."""
    ids = np.repeat(np.arange(labelled + rest), 8)
    cut = labelled * 8

    def source(rng: np.random.Generator) -> Draw | None:
        truth = (rng.random(len(ids)) < rng.beta(*right, labelled + rest)[ids]).astype(float)
        errs = rng.random(len(ids)) < rng.beta(*wrong, labelled + rest)[ids]
        verdicts = np.where(errs, 1 - truth, truth)
        scores = LabelledScores(
            labels=truth[:cut], judged=verdicts[:cut], rest=verdicts[cut:], clusters=ids[:cut], rest_clusters=ids[cut:]
        )
        return corrected(scores, right[0] / sum(right))

    return simulated(f"{labelled} documents of 8, share {right[0] / sum(right):g}", cut, source)


def grid() -> list[Cell]:
    """Every combination of prevalence, sensitivity, specificity and number of labels."""
    return [judge_cell(p, se, sp, n) for p in GRID for se in GRID for sp in GRID for n in LABELS]


def other_judges() -> list[Cell]:
    """Graded and weighted labels, a judge that guesses, and shares far from the ends."""
    return [
        graded_judge(100, 0.03),
        weighted_labels(100, 9, 0.6),
        weighted_labels(100, 0.6, 0.3),
        judge_cell(0.6, 0.9, 0.8, 150),
        judge_cell(0.95, 0.9, 0.8, 50, 1_000),
        judge_cell(0.03, 0.9, 0.95, 60, 1_000),
        judge_cell(0.6, 0.5, 0.5, 80, 1_000),
    ]


def judges_of_documents() -> list[Cell]:
    """Labels in clusters; there is no limit of width."""
    return [
        judged_documents(30, 150, (9.0, 1.0), (0.5, 9.0)),
        judged_documents(30, 150, (4.0, 1.0), (1.0, 6.0)),
    ]


@cache
def share_of(hits: int, n: int) -> MetricValue:
    """A share with its interval."""
    return interval.ratio([1.0, 0.0], [1.0, 1.0], counts=np.array([hits, n - hits]))


def first_rogan_gladen(share: MetricValue, sensitivity: MetricValue, specificity: MetricValue) -> Ends | None:
    """The interval of version 0.1: the score interval on an effective size by the delta method."""
    rates = [rate.value for rate in (share, sensitivity, specificity)]
    p, se, sp = (math.nan if rate is None else rate for rate in rates)
    skill = se + sp - 1
    value = min(max((p + sp - 1) / skill, 0.0), 1.0)
    noise = p * (1 - p) / share.n + value**2 * se * (1 - se) / sensitivity.n
    noise += (1 - value) ** 2 * sp * (1 - sp) / specificity.n
    if not 0 < value < 1 or noise <= 0:
        return None
    size = value * (1 - value) * skill**2 / noise
    low, high = interval.wilson(value * size, size)
    return float(low), float(high)


def rogan_gladen_cell(share: float, rates: tuple[float, float], labels: tuple[int, int]) -> Cell:
    """A judge whose error rates come from as many labels of each class; 2,000 samples are judged."""
    (se, sp), (yes, no) = rates, labels

    def source(rng: np.random.Generator) -> Draw | None:
        sensitivity, specificity = share_of(rng.binomial(yes, se), yes), share_of(rng.binomial(no, sp), no)
        of_yes = share_of(rng.binomial(REST, share * se + (1 - share) * (1 - sp)), REST)
        now = ends(rogan_gladen(of_yes, sensitivity, specificity).interval)
        return None if now is None else Draw(now, first_rogan_gladen(of_yes, sensitivity, specificity), share)

    return simulated(f"share {share:g}, se {se:g}, sp {sp:g}, {yes} yes, {no} no", yes + no, source)


def rogan_gladens() -> list[Cell]:
    """Shares over the whole range, few and many labels of each class."""
    return [
        rogan_gladen_cell(share, rates, labels)
        for share in (0.02, 0.1, 0.5, 0.9, 0.98, 0.995)
        for rates in ((0.9, 0.9), (0.98, 0.98), (0.9, 0.98))
        for labels in ((10, 10), (40, 10), (50, 50), (270, 30))
    ]


def recall_cell(samples: int, positives: float, recall: float) -> Cell:
    """Recall over samples of which a share is positive, summed over all outcomes that have any."""

    def outcomes() -> Weighted:
        for n in range(1, samples + 1):
            for hits in range(n + 1):
                log_ways = gammaln(samples + 1) - gammaln(samples - n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
                log_chance = n * math.log(positives) + (samples - n) * math.log1p(-positives)
                log_chance += hits * math.log(recall) + (n - hits) * math.log1p(-recall)
                chance = math.exp(log_ways + log_chance)
                if chance > 1e-9:
                    yield chance, Draw(*recall_bounds(hits, n), recall)

    return exact(f"recall {recall:g}, {positives:.0%} of the samples positive", samples, outcomes)


@cache
def recall_bounds(hits: int, n: int) -> tuple[Ends, Ends | None]:
    """The interval of recall and the score interval alone, which version 0.1 had."""
    values = np.repeat([1.0, 0.0], [hits, n - hits])
    now = ends(interval.rate(values, np.ones(n)).interval)
    assert now is not None
    return now, ends(interval.ratio(values, np.ones(n)).interval)


def recalls() -> list[Cell]:
    """Few positives among few samples; precision is the same with the predictions in their place."""
    return [
        recall_cell(samples, positives, recall)
        for samples in (20, 30, 40, 50)
        for positives in (0.05, 0.1, 0.2)
        for recall in (0.7, 0.8, 0.9, 0.95, 0.98)
    ]


def raw_judge(rng: np.random.Generator) -> Draw | None:
    """A usual mistake: the judge's own mean stands for the truth."""
    truth, verdicts = judged(rng, 150, (0.6, 0.9, 0.8))
    # With 30,000 samples chance no longer hides that the judge is wrong.
    _, others = judged(rng, 30_000, (0.6, 0.9, 0.8))
    judge = calibrate(LabelledScores(labels=truth, judged=verdicts, rest=others), rng=rng).judge.interval
    return both(judge, judge, 0.6)


def doubtful_only(rng: np.random.Generator) -> Draw | None:
    """A usual mistake: people label only what the judge was unsure of."""
    verdicts = rng.beta(2, 1, 1_000)
    truth = (rng.random(1_000) < verdicts**2).astype(float)
    order = np.argsort(np.abs(verdicts - 0.5))
    doubtful, rest = order[:80], order[80:]
    return corrected(LabelledScores(labels=truth[doubtful], judged=verdicts[doubtful], rest=verdicts[rest]), 0.5)


CONTROLS = [
    simulated("the raw judge, share .6, se .9, sp .8", 150, raw_judge),
    simulated("labels of the doubtful cases alone", 80, doubtful_only),
]
FAMILIES = {
    "grid": lambda: Family("calibration", grid(), Bound(least=0.93, widest=1.15)),
    "judges": lambda: Family("calibration", other_judges(), Bound(least=0.93, widest=1.15)),
    "documents": lambda: Family("calibration, clusters", judges_of_documents(), Bound(least=0.93)),
    "rogan_gladen": lambda: Family("Rogan-Gladen", rogan_gladens(), Bound(least=0.93)),
    "recall": lambda: Family("recall, exact", recalls(), Bound(least=0.93)),
}
