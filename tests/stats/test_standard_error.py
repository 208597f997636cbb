"""Standard errors against numpy, scipy and statsmodels, and against the spread of the value over many data sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.stats import bayes, interval
from assay.stats.calibration import LabelledScores, calibrate
from assay.stats.classification import Pairs, binary, kappa
from assay.stats.correlation import correlation
from assay.stats.errors_between import errors_between
from assay.stats.macro import macro_mean, paired_macro
from assay.stats.noise import noise_floor
from assay.stats.paired import paired
from assay.stats.panel import effective_judges
from assay.stats.rogan_gladen import rogan_gladen
from assay.stats.spread import quantile, std_dev


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_a_share_has_that_of_the_binomial():
    value = interval.mean([1.0] * 33 + [0.0] * 7, rng=rng())
    low, high = proportion_confint(33, 40, method="normal")
    assert value.standard_error == pytest.approx((high - low) / 2 / stats.norm.ppf(0.975))


@pytest.mark.parametrize("bounds", [None, (0, 1), (-2, 4)])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_mean_has_that_of_the_mean_whatever_its_interval(bounds, repeated):
    values = np.where(np.arange(50) % 3 > 0, 0.75, rng().random(50)) if repeated else rng().random(50)
    value = interval.mean(values, rng=rng(), bounds=bounds)
    assert value.standard_error == pytest.approx(stats.sem(values))


def test_clusters_count_as_in_a_cluster_robust_regression():
    values, ids = rng().random(60), np.repeat(np.arange(12), 5)
    value = interval.mean(values, ids, rng=rng(), bounds=(0, 1))
    fit = sm.OLS(values, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": ids, "use_correction": True, "df_correction": True}
    )
    # statsmodels also multiplies by (n - 1) / (n - 1) = 1 for one coefficient
    assert value.standard_error == pytest.approx(float(fit.bse[0]))
    unbounded = interval.mean(10 * values, ids, rng=rng())
    assert unbounded.standard_error == pytest.approx(10 * float(fit.bse[0]))


def test_a_paired_difference_has_that_of_the_paired_test():
    before, after = rng().random((2, 40))
    test = stats.ttest_rel(after, before)
    difference = paired(before, after, rng=rng()).difference
    assert difference.standard_error == pytest.approx(difference.value / float(test.statistic))


def test_a_difference_of_shares_has_that_of_its_flips():
    before, after = np.repeat([0, 0, 1, 1], [9, 8, 3, 80]), np.repeat([0, 1, 0, 1], [9, 8, 3, 80])
    difference = paired(before, after, rng=rng()).difference
    assert difference.interval.method == "tango"
    assert difference.standard_error == pytest.approx(np.std(after - before) / math.sqrt(100))


def test_macro_averages_have_that_of_independent_groups():
    groups = np.repeat([0, 1, 2], [5, 20, 8])
    values = rng().random(33)
    parts = [stats.sem(values[groups == code]) ** 2 / 9 for code in range(3)]
    for bounds in (None, (0, 1)):
        assert macro_mean(values, groups, bounds=bounds).standard_error == pytest.approx(math.sqrt(sum(parts)))
    apart = paired_macro((np.zeros(33), values), groups, rng=rng(), bounds=(0, 1)).difference
    assert apart.standard_error == pytest.approx(math.sqrt(sum(parts)))


SPREADS = {
    "F1": (lambda r: binary(Pairs(*np.divmod(r.choice(4, p=[0.4, 0.1, 0.1, 0.4], size=200), 2), 2))["f1_score"], 0.1),
    "kappa": (
        lambda r: bayes.table_value(
            Pairs(*np.divmod(r.choice(4, p=[0.4, 0.1, 0.1, 0.4], size=200), 2), 2), kappa, rng=r
        ),
        0.1,
    ),
    "pearson": (lambda r: correlation(*r.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 150).T, "pearson"), 0.1),
    "standard deviation": (lambda r: std_dev(r.normal(size=200)), 0.1),
    "RMSE": (lambda r: errors_between(r.uniform(-1, 1, 200), np.zeros(200), rng=r, bounds=(0, 1)).rmse, 0.1),
    "effective judges": (
        lambda r: effective_judges(r.normal(size=(150, 1)) + r.normal(size=(150, 4))),
        0.15,
    ),
    "a corrected judge": (
        lambda r: (
            calibrate(
                LabelledScores(
                    labels=(truth := (r.random(1_150) < 0.7).astype(float))[:150],
                    judged=(verdicts := np.where(r.random(1_150) < 0.85, truth, 1 - truth))[:150],
                    rest=verdicts[150:],
                ),
                rng=r,
            ).estimate
        ),
        0.1,
    ),
    "Rogan-Gladen": (
        lambda r: rogan_gladen(
            *(
                interval.ratio(np.repeat([1.0, 0.0], [hits, n - hits]), np.ones(n))
                for hits, n in ((r.binomial(1_000, 0.6), 1_000), (r.binomial(80, 0.9), 80), (r.binomial(60, 0.85), 60))
            )
        ),
        0.15,
    ),
}


@pytest.mark.parametrize("name", SPREADS)
def test_it_is_the_spread_of_the_value_over_data_sets(name, monkeypatch):
    draw, tolerance = SPREADS[name]
    monkeypatch.setattr(bayes, "DRAWS", 999)
    generator = rng()
    values = [draw(generator) for _ in range(300)]
    spread = np.std([value.value for value in values], ddof=1)
    typical = math.sqrt(np.mean([value.standard_error**2 for value in values]))
    assert typical == pytest.approx(spread, rel=tolerance)


def test_methods_without_a_standard_error_leave_it_out():
    assert quantile(range(20), 0.5).standard_error is None
    assert interval.mean([], rng=rng()).standard_error is None
    assert interval.mean([3.0, 3.0], rng=rng()).standard_error is None
    assert noise_floor([[0, 1], [1, 1], [1, 0]], rng=rng(), bounds=(0, 1)).floor.standard_error is None
    assert interval.mean([1.0] * 9, rng=rng()).standard_error == 0
