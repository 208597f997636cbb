"""Panels with gaps and options that nobody chose: against libraries where they know the number, else pair by pair."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from assay.stats.additive_stats import macro
from assay.stats.classification import Pairs, accuracy
from assay.stats.errors_between import adjacent_accuracy, errors_between
from assay.stats.fleiss import fleiss_sums, gwet_sums, scotts_pi
from assay.stats.icc import intraclass
from assay.stats.kappa import kappa_sums
from assay.stats.micro_macro import accuracy_sums, micro_accuracy
from assay.stats.panel import effective_judges, panel_agreement, redundant_criteria
from assay.stats.ratings import Ratings

VALUES = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
# -1 stands for a gap; the last of the five options is never chosen
gaps = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.lists(st.integers(-1, 3), min_size=raters, max_size=raters), min_size=2, max_size=20)
)
pairs_of_codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


def _cast(row: list[int]) -> list[int]:
    return [code for code in row if code >= 0]


def _observed(rows: list[list[int]], alike: np.ndarray) -> float:
    """The mean over items with two votes of how alike their pairs of votes are; of one item alone nothing is said."""
    if sum(bool(_cast(row)) for row in rows) < 2:
        return math.nan
    means = []
    for row in rows:
        votes = _cast(row)
        if len(votes) >= 2:
            means.append(np.mean([alike[a, b] for a, b in combinations(votes, 2)]))
    return float(np.mean(means)) if means else math.nan


def _shares(rows: list[list[int]]) -> np.ndarray:
    """The mean over items of the share of votes that each option got."""
    voted = [_cast(row) for row in rows if _cast(row)]
    return np.mean([[votes.count(option) / len(votes) for option in range(5)] for votes in voted], axis=0)


@given(rows=gaps)
def test_fleiss_with_gaps_is_what_pairs_of_votes_give(rows: list[list[int]]) -> None:
    found = fleiss_sums(Ratings(codes=np.array(rows), values=VALUES)).estimate()
    seen = _observed(rows, np.eye(5))
    if math.isnan(seen):
        assert math.isnan(found)
        return
    chance = float((_shares(rows) ** 2).sum())
    if 1 - chance <= 1e-12:
        assert math.isnan(found)
    else:
        assert found == pytest.approx((seen - chance) / (1 - chance), abs=1e-10)


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
@given(rows=gaps)
def test_gwets_coefficients_with_gaps_are_what_pairs_of_votes_give(weighting: str, rows: list[list[int]]) -> None:
    apart = np.abs(VALUES[:, None] - VALUES[None, :])
    alike = {"none": np.eye(5), "linear": 1 - apart, "quadratic": 1 - apart**2}[weighting]
    found = gwet_sums(Ratings(codes=np.array(rows), values=VALUES), weighting).estimate()  # type: ignore[arg-type]
    seen = _observed(rows, alike)
    if math.isnan(seen):
        assert math.isnan(found)
        return
    share = _shares(rows)
    chance = alike.sum() / (5 * 4) * float((share * (1 - share)).sum())
    assert found == pytest.approx((seen - chance) / (1 - chance), abs=1e-10)


@given(rows=pairs_of_codes)
def test_scotts_pi_is_fleiss_of_two_as_statsmodels_has_it(rows: list[tuple[int, int]]) -> None:
    truth, judge = np.array(rows).T
    found = scotts_pi(Pairs(truth, judge, 5), rng=np.random.default_rng(1)).value
    if len({*truth.tolist(), *judge.tolist()}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(statsmodels_fleiss(aggregate_raters(np.array(rows))[0]), abs=1e-12)


@given(rows=pairs_of_codes)
def test_kappa_by_value_is_what_single_pairs_give(rows: list[tuple[int, int]]) -> None:
    truth, judge = np.array(rows).T
    squared = (VALUES[:, None] - VALUES[None, :]) ** 2
    seen = np.mean([squared[a, b] for a, b in rows])
    expected = np.mean([squared[a, b] for a in truth for b in judge])
    found = kappa_sums(Pairs(truth, judge, 5), VALUES, "quadratic").estimate()
    if expected <= 1e-15:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(1 - seen / expected, abs=1e-10)


@given(rows=gaps)
def test_the_agreement_of_a_panel_is_the_mean_over_items_of_its_pairs(rows: list[list[int]]) -> None:
    assume(sum(bool(_cast(row)) for row in rows) >= 2)
    found = panel_agreement(Ratings(codes=np.array(rows), values=VALUES)).value
    seen = _observed(rows, np.eye(5))
    assert (math.nan if found is None else found) == pytest.approx(seen, nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda raters: st.lists(st.lists(st.integers(0, 4), min_size=raters, max_size=raters), min_size=4, max_size=12)
    )
)
def test_intraclass_correlations_follow_from_the_two_way_anova_of_statsmodels(rows: list[list[int]]) -> None:
    table = VALUES[np.array(rows)]
    n, k = table.shape
    assume(np.ptp(table) > 0)
    data = pandas.DataFrame(
        {
            "y": table.ravel(),
            "item": np.repeat([f"i{place}" for place in range(n)], k),
            "rater": np.tile([f"r{place}" for place in range(k)], n),
        }
    )
    parts = anova_lm(ols("y ~ C(item) + C(rater)", data).fit())
    rows_ms, raters_ms, error_ms = (parts["sum_sq"].iloc[place] / parts["df"].iloc[place] for place in range(3))
    bottom = rows_ms + (k - 1) * error_ms + k * (raters_ms - error_ms) / n
    assume(bottom > 1e-9)
    found = intraclass(table)
    assert found.single.value == pytest.approx((rows_ms - error_ms) / bottom, abs=1e-8)
    mean_bottom = rows_ms + (raters_ms - error_ms) / n
    if mean_bottom > 1e-9 and found.mean.value is not None:
        assert found.mean.value == pytest.approx((rows_ms - error_ms) / mean_bottom, abs=1e-7)


@given(rows=pairs_of_codes)
def test_sizes_of_errors_are_those_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    truth, judge = VALUES[np.array(rows).T]
    found = errors_between(judge, truth, rng=np.random.default_rng(1), bounds=(0.0, 1.0))
    assert found.mae.value == pytest.approx(sklearn.metrics.mean_absolute_error(truth, judge))
    assert found.rmse.value == pytest.approx(math.sqrt(sklearn.metrics.mean_squared_error(truth, judge)))
    assert found.bias.value == pytest.approx(float(np.mean(judge - truth)))


@given(rows=pairs_of_codes)
def test_adjacent_accuracy_counts_ranks_of_scipy(rows: list[tuple[int, int]]) -> None:
    truth, judge = np.array(rows).T
    tied = np.array([0.0, 0.5, 0.5, 0.5, 1.0])
    ranks = scipy.stats.rankdata(tied, method="dense")
    near = np.abs(ranks[truth] - ranks[judge]) <= 1
    assert adjacent_accuracy(Pairs(truth, judge, 5), tied).value == pytest.approx(float(near.mean()))


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(6, 20))
def test_effective_judges_follow_from_the_correlations_of_numpy(seed: int, judges: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((n, 1)) + rng.random((n, judges))
    r = np.corrcoef(table.T)[np.triu_indices(judges, 1)].mean()
    share = 1 + (judges - 1) * r
    assume(share > 1e-6)
    assert effective_judges(table).value == pytest.approx(judges / share)


def test_redundant_criteria_have_the_rank_correlation_of_scipy_with_gaps() -> None:
    rng = np.random.default_rng(4)
    base = rng.random(40)
    table = np.column_stack([base, base + rng.normal(0, 0.02, 40), rng.random(40)])
    table[:5, 0] = np.nan
    (pair,) = redundant_criteria(table)
    both = ~np.isnan(table[:, 0])
    assert pair.value.value == pytest.approx(scipy.stats.spearmanr(table[both, 0], table[both, 1]).statistic)


@given(st.lists(pairs_of_codes, min_size=1, max_size=4))
def test_overall_accuracies_are_those_of_scikit_learn_pooled_and_averaged(
    criteria: list[list[tuple[int, int]]],
) -> None:
    made = []
    for rows in criteria:
        truth, judge = np.array(rows).T
        made.append(Pairs(truth, judge, 5, np.arange(len(rows))))
    single = [sklearn.metrics.accuracy_score(pairs.truth, pairs.predicted) for pairs in made]
    pooled = np.concatenate([pairs.truth for pairs in made]), np.concatenate([pairs.predicted for pairs in made])
    assert [accuracy(pairs).value for pairs in made] == pytest.approx(single)
    assert micro_accuracy(made).value == pytest.approx(sklearn.metrics.accuracy_score(*pooled))
    mean = macro([accuracy_sums(pairs) for pairs in made], rng=np.random.default_rng(1)).value
    assert mean.value == pytest.approx(float(np.mean(single)))
