"""Votes become the numbers of the textbooks, and what cannot be had is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.agreement import agreement
from assay.analysis.scale import ABSENT, Scale, Votes, agreed_truth
from assay.judging.criteria import Criterion, CriterionOption
from assay.results.agreement import PANEL

FIVE = Scale(kind="ordinal", labels=tuple("ABCDE"), values=(0.0, 0.1, 0.5, 0.9, 1.0))
BINARY = Scale.of(Criterion(requirement="Polite"))
X = ABSENT
KRIPPENDORFF = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
    "C": [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
}


def made(judges, truth=None, scale=BINARY, **more):
    codes = {name: np.array([int(c) for c in said]) for name, said in judges.items()}
    n = len(next(iter(codes.values())))
    right = np.full(n, ABSENT) if truth is None else np.array([int(c) for c in truth])
    return Votes(name="c", scale=scale, items=np.arange(n), judges=codes, truth=right, **more)


def test_weighted_kappas_go_by_the_values_of_the_whole_declared_scale():
    found = agreement([made({"j": "0334430340"}, "0033440343", FIVE)])["c"].judges["j"]
    assert found.values["kappa_quadratic"].value == pytest.approx(0.5648, abs=5e-5)
    assert found.values["kappa_linear"].value == pytest.approx(0.5238, abs=5e-5)
    assert found.values["kappa"].interval.low < found.values["kappa"].value < found.values["kappa"].interval.high
    assert np.array(found.confusion).shape == (5, 5)
    assert found.per_option["B"]["recall"].value is None
    assert "never the truth" in found.per_option["B"]["recall"].reason


def test_krippendorffs_example_has_its_published_agreement():
    judges = {name: [code if code < 0 else code - 1 for code in said] for name, said in KRIPPENDORFF.items()}
    scale = Scale(kind="ordinal", labels=tuple("12345"), values=(1.0, 2.0, 3.0, 4.0, 5.0))
    result = agreement([made(judges, scale=scale)])
    values = {name: value.value for name, value in result["c"].between.values.items()}
    assert [values[f"alpha_{kind}"] for kind in ("nominal", "ordinal", "interval")] == pytest.approx(
        [0.743, 0.815, 0.849], abs=5e-4
    )
    assert (values["ac1"], values["fleiss_kappa"]) == pytest.approx((0.7754, 0.7612), abs=5e-5)
    assert len(result["c"].between.pairs) == 6
    assert result["c"].judges == {}
    assert result.overall == {}
    assert result.between["ac1"].value == pytest.approx(0.7754, abs=5e-5)


def test_an_abstention_is_counted_and_a_failed_vote_is_neither_wrong_nor_an_abstention():
    found = agreement([made({"j": [1, 0, -1, ABSENT, 1]}, [1, 1, 1, 1, -1])])["c"].judges["j"]
    assert (found.values["accuracy"].value, found.values["accuracy"].n) == (0.5, 2)
    assert (found.abstentions.n, found.abstentions.judge_only, found.abstentions.truth_only) == (4, 1, 1)
    assert (found.abstentions.accuracy_low.value, found.abstentions.accuracy_high.value) == (0.25, 0.75)
    assert found.n_failed == 1


def test_names_without_values_have_no_distances():
    scale = Scale(kind="nominal", labels=("x", "y"))
    found = agreement([made({"a": "01", "b": "01"}, "01", scale)])["c"]
    assert set(found.judges["a"].values) == {"accuracy", "kappa"}
    assert set(found.between.values) == {"agreement", "alpha_nominal", "fleiss_kappa", "ac1"}


def test_the_panels_errors_are_those_before_snapping():
    panel = {"panel": np.array([0, 4]), "panel_values": np.array([0.04, 0.96])}
    found = agreement([made({"j": "04"}, "04", FIVE, **panel)])["c"].judges
    assert found[PANEL].values["rmse"].value == pytest.approx(0.04)
    assert found["j"].values["rmse"].value == 0.0


def test_the_mean_over_criteria_says_over_how_many_it_is():
    one, other = made({"j": "0101"}, "0101"), made({"j": "1111"}, "1111")
    result = agreement([one, other])
    assert result.overall["j"]["micro_accuracy"].value == 1.0
    assert result.overall["j"]["macro_accuracy"].value == 1.0
    assert result.overall["j"]["macro_kappa"].value == 1.0
    assert (result.defined["j"]["macro_accuracy"], result.defined["j"]["macro_kappa"]) == (2, 1)
    nothing = agreement([other]).overall["j"]["macro_kappa"]
    assert nothing.value is None
    assert nothing.reason == "it is defined for no criterion"


def test_people_have_a_ceiling_and_agree_with_each_other():
    people = {"x": np.array([0, 1, 1, 0]), "y": np.array([0, 1, 0, 0]), "z": np.array([0, 1, 1, 1])}
    truth = agreed_truth(people, BINARY, 4)
    assert truth.tolist() == [0, 1, 1, 0]
    found = agreement([made({"j": "0110"}, truth, people=people)])["c"]
    assert found.ceilings["j"].ceiling.value < found.ceilings["j"].judge.value
    assert found.ceilings["j"].matched.value == 1.0
    assert len(found.people.pairs) == 3
    assert found.between is None


def test_where_people_tie_there_is_no_truth():
    people = {"x": np.array([0, 1, -1, X]), "y": np.array([1, -1, -1, X])}
    assert agreed_truth(people, BINARY, 4).tolist() == [ABSENT, 1, -1, ABSENT]
    assert agreed_truth({}, BINARY, 2).tolist() == [ABSENT, ABSENT]


def test_a_scale_reads_labels_in_any_case_and_knows_who_abstains():
    na = CriterionOption(label="NA - none", value=0.0, na=True)
    options = [CriterionOption(label="Good", value=1.0), CriterionOption(label="Bad", value=0.0), na]
    scale = Scale.of(Criterion(requirement="r", options=options))
    assert [scale.code(label) for label in (" good ", "BAD", "na - NONE", "CANNOT_ASSESS", None)] == [0, 1, -1, -1, -1]
    with pytest.raises(ValueError, match='"ugly" is not one of the labels Good, Bad'):
        scale.code("ugly")


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(-1, 4), min_size=1, max_size=12))
def test_a_perfect_judge_has_no_error(truth):
    result = agreement([made({"j": truth}, truth, FIVE)])
    values = result["c"].judges["j"].values
    for name, perfect in (("accuracy", 1.0), ("kappa_quadratic", 1.0), ("rmse", 0.0), ("bias", 0.0)):
        assert values[name].value in (None, pytest.approx(perfect))
        assert values[name].value is not None or values[name].reason
    assert result.to_dict() == agreement([made({"j": truth}, truth, FIVE)]).to_dict()


def test_the_table_fits_80_columns_and_names_the_judges():
    long = {f"provider/a-very-long-model-name-{n}": "0101" for n in range(3)}
    text = repr(agreement([made(long, "0111"), made({"a": "0000", "b": "0000"}, "0111")]))
    assert max(map(len, text.splitlines())) <= 80
    assert "1 · 2" in text
    assert "1 is provider/a-very-long-model-name-0" in text
    assert "truth · …er/a-very-long-model-name-2" in text
    assert "undefined" in text
    assert "(1) " in text
