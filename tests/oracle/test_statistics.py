"""Our numbers against those of scikit-learn, statsmodels and scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from assay.stats import classification
from assay.stats.classification import Pairs, binary, kappa, marginals, matthews, one_class
from assay.stats.correlation import Name, correlation
from assay.stats.interval import wilson

bits = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)
codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)
points = st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=4, max_size=40)


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(rows, dtype=np.int64)
    return array[:, 0], array[:, 1]


def oracle(name: str, *arguments: object, **options: object) -> float:
    """A number of scikit-learn, which warns where it divides by zero; NaN where it then has none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return float(getattr(sklearn.metrics, name)(*arguments, **options))


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_wilson_is_that_of_statsmodels(counts: tuple[int, int], level: float) -> None:
    hits, n = counts
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert [float(bound) for bound in wilson(hits, n, level)] == pytest.approx(expected, abs=1e-9)


@given(bits)
def test_binary_values_are_those_of_scikit_learn_where_it_defines_them(rows: list[tuple[int, int]]) -> None:
    truth, predicted = split(rows)
    found = binary(Pairs(truth, predicted, 2))
    for name in ("accuracy", "precision", "recall", "f1_score"):
        function = "f1_score" if name == "f1_score" else f"{name}_score"
        options = {} if name == "accuracy" else {"zero_division": np.nan}
        expected = oracle(function, truth, predicted, **options)
        if np.isnan(expected):
            assert found[name].value is None
            assert found[name].reason is not None
        else:
            assert found[name].value == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(codes)
def test_values_of_classes_are_those_of_scikit_learn(rows: list[tuple[int, int]]) -> None:
    truth, predicted = split(rows)
    pairs = Pairs(truth, predicted, 4)
    sums = marginals(pairs.confusion())
    assert pairs.confusion().tolist() == sklearn.metrics.confusion_matrix(truth, predicted, labels=range(4)).tolist()
    options = {"labels": list(range(4)), "zero_division": 0.0}
    for statistic, name, average in [
        (classification.macro_precision, "precision_score", "macro"),
        (classification.macro_recall, "recall_score", "macro"),
        (classification.macro_f1, "f1_score", "macro"),
        (classification.weighted_f1, "f1_score", "weighted"),
    ]:
        expected = oracle(name, truth, predicted, average=average, **options)
        assert float(statistic(sums)) == pytest.approx(expected)
    for code in range(4):
        values = one_class(pairs, code)
        for value, name in zip(values, ("precision_score", "recall_score", "f1_score"), strict=True):
            expected = oracle(name, truth == code, predicted == code, zero_division=0.0)
            assert (value.value or 0.0) == pytest.approx(expected)


@given(codes)
def test_kappa_and_mcc_are_those_of_scikit_learn_where_both_are_defined(rows: list[tuple[int, int]]) -> None:
    truth, predicted = split(rows)
    sums = marginals(Pairs(truth, predicted, 4).confusion())
    found = float(kappa(sums))
    if np.isnan(found):
        assert len({*truth.tolist(), *predicted.tolist()}) == 1
    else:
        assert found == pytest.approx(oracle("cohen_kappa_score", truth, predicted))
    found = float(matthews(sums))
    if np.isnan(found):
        assert 1 in (len(set(truth.tolist())), len(set(predicted.tolist())))
    else:
        assert found == pytest.approx(oracle("matthews_corrcoef", truth, predicted))


@pytest.mark.parametrize(
    ("name", "function"), [("pearson", "pearsonr"), ("spearman", "spearmanr"), ("kendall", "kendalltau")]
)
@given(rows=points)
def test_correlations_are_those_of_scipy(name: Name, function: str, rows: list[tuple[int, int]]) -> None:
    x, y = split(rows)
    value = correlation(x, y, name)
    if value.value is None:
        assert len(set(x.tolist())) == 1 or len(set(y.tolist())) == 1
    else:
        assert value.value == pytest.approx(getattr(scipy.stats, function)(x, y).statistic, abs=1e-12)
