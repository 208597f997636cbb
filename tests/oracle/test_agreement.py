"""Our agreement numbers against those of scikit-learn, statsmodels and krippendorff, and against published ones."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import krippendorff
import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from assay.stats.alpha import Scale, alpha_sums
from assay.stats.classification import Pairs
from assay.stats.fleiss import fleiss_sums
from assay.stats.human_ceiling import human_ceiling
from assay.stats.kappa import Weighting, kappa_sums
from assay.stats.panel import pairwise_kappas
from assay.stats.ratings import Ratings

OPTIONS = 5
# The last of the five options is never chosen, others often not.
codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)
# Zero stands for a gap; the last of five options is never chosen.
tables = st.integers(2, 5).flatmap(
    lambda raters: st.lists(st.lists(st.integers(0, 4), min_size=raters, max_size=raters), min_size=2, max_size=30)
)
full_tables = st.integers(2, 5).flatmap(
    lambda raters: st.lists(st.lists(st.integers(0, 3), min_size=raters, max_size=raters), min_size=2, max_size=30)
)


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
@given(rows=codes)
def test_kappa_is_that_of_scikit_learn_also_with_options_that_nobody_chose(
    weighting: Weighting, rows: list[tuple[int, int]]
) -> None:
    truth, judge = np.array(rows).T
    # Evenly spaced values, since scikit-learn takes distances between places.
    found = kappa_sums(Pairs(truth, judge, OPTIONS), np.linspace(0, 1, OPTIONS), weighting).estimate()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        weights = None if weighting == "none" else weighting
        expected = sklearn.metrics.cohen_kappa_score(truth, judge, labels=list(range(OPTIONS)), weights=weights)
    if np.isnan(found):
        assert len({*truth.tolist(), *judge.tolist()}) == 1
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@settings(max_examples=150)
@given(rows=tables)
def test_alpha_is_that_of_krippendorff_with_gaps_and_options_that_nobody_chose(
    scale: Scale, rows: list[list[int]]
) -> None:
    table = np.array(rows, dtype=np.float64)
    values = np.array([1.0, 2.0, 4.0, 7.0, 9.0])
    ratings = Ratings(codes=table.astype(np.int64) - 1, values=values)
    found = alpha_sums(ratings, scale).estimate()
    pairable = table[(table > 0).sum(axis=1) >= 2]
    if len(pairable) < 2 or len(set(pairable[pairable > 0].tolist())) < 2:
        assert np.isnan(found)
        return
    numbers = np.where(table > 0, values[np.maximum(table.astype(int) - 1, 0)], np.nan)
    expected = krippendorff.alpha(numbers.T, level_of_measurement=scale, value_domain=values.tolist())
    assert found == pytest.approx(expected, abs=1e-10)


@given(rows=full_tables)
def test_fleiss_kappa_is_that_of_statsmodels(rows: list[list[int]]) -> None:
    table = np.array(rows)
    found = fleiss_sums(Ratings(codes=table, values=np.arange(5.0))).estimate()
    if len(np.unique(table)) == 1:
        assert np.isnan(found)
        return
    expected = statsmodels_fleiss(aggregate_raters(table)[0])
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def pandalm(real_data: Path) -> Ratings:
    rows = json.loads((real_data / "pandalm" / "testset-v1.json").read_text(encoding="utf-8"))
    labels = [[row[f"annotator{person}"] for person in (1, 2, 3)] for row in rows]
    return Ratings(codes=np.array(labels, dtype=np.int64), values=np.arange(3.0))


def test_the_annotators_of_pandalm_agree_as_published(pandalm: Ratings) -> None:
    found = pairwise_kappas(pandalm, rng=np.random.default_rng(1))
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (0, 2), (1, 2)]
    assert [pair.value.value for pair in found] == pytest.approx([0.8520, 0.8789, 0.8617], abs=5e-5)
    for pair in found:
        assert pair.value.interval is not None
        assert 0.02 < pair.value.interval.high - pair.value.interval.low < 0.08  # type: ignore[operator]


def test_the_majority_of_pandalm_is_as_published(pandalm: Ratings) -> None:
    assert np.bincount(pandalm.majority()).tolist() == [105, 422, 472]


def test_the_majority_of_pandalm_is_a_better_judge_than_any_of_its_people(pandalm: Ratings) -> None:
    found = human_ceiling(pandalm, pandalm.majority(), rng=np.random.default_rng(1))
    assert found.matched.value == 1.0
    assert found.judge.value > found.ceiling.value  # type: ignore[operator]
