"""What a panel is worth."""

from __future__ import annotations

import numpy as np
import pytest

from assay.analysis.agreement import agreement
from assay.analysis.panels import (
    Totals,
    given_to_all,
    redundant,
    together,
    together_on_totals,
    unsteadiness,
    without_each,
)
from assay.analysis.scale import ABSENT, Intervals, Scale, Votes
from assay.judging.criteria import Criterion
from assay.stats.icc import intraclass
from assay.stats.noise import noise_floor
from assay.stats.panel import effective_judges

FIVE = Scale(kind="ordinal", labels=tuple("ABCDE"), values=(0.0, 0.25, 0.5, 0.75, 1.0))
NAMES = Scale(kind="nominal", labels=("red", "blue"))
BINARY = Scale.of(Criterion(requirement="Polite"))
MEASURE = Intervals()


def made(judges, *, scale=FIVE, truth=None, name="c", **more):
    codes = {judge: np.array(said) for judge, said in judges.items()}
    n = len(next(iter(codes.values())))
    right = np.full(n, ABSENT) if truth is None else np.array(truth)
    rows = tuple((f"{place}/0", str(place)) for place in range(n))
    return Votes(name=name, scale=scale, items=np.arange(n), judges=codes, truth=right, rows=rows, **more)


def random_votes(seed=1, n=40, odd=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n)
    near = {name: np.clip(truth + rng.integers(-1, 2, n), 0, 4) for name in "ab"}
    far = rng.integers(0, 5, n) if odd else np.clip(truth + rng.integers(-1, 2, n), 0, 4)
    return {**near, "c": far}, truth


def test_judges_are_worth_what_their_errors_say_where_the_truth_is_known_else_their_votes():
    judges, truth = random_votes()
    table = np.column_stack([np.array(FIVE.values)[codes] for codes in judges.values()])
    votes = made(judges)
    blind = together(votes, votes.judges, MEASURE)
    assert blind["effective_judges"].value == pytest.approx(effective_judges(table).value)
    seen = together(made(judges, truth=truth), votes.judges, MEASURE)
    errors = table - np.array(FIVE.values)[truth][:, None]
    assert seen["effective_judges"].value == pytest.approx(effective_judges(errors).value)
    assert seen["effective_judges"].value > blind["effective_judges"].value
    assert seen["icc_single"].value == pytest.approx(intraclass(table).single.value)
    assert seen["icc_mean"].value == pytest.approx(intraclass(table).mean.value)


def test_names_without_values_have_no_such_numbers():
    votes = made({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]}, scale=NAMES)
    assert together(votes, votes.judges, MEASURE) == {}
    assert unsteadiness(votes, MEASURE) == {}


def test_agreement_that_rises_without_a_judge_names_it():
    judges, _ = random_votes(odd=True)
    votes = made(judges)
    found = without_each(votes, votes.judges, "ordinal", MEASURE)
    assert max(found, key=lambda name: found[name]["alpha_ordinal"].value) == "c"
    assert found["c"]["agreement"].interval is not None
    assert without_each(votes, {name: votes.judges[name] for name in "ab"}, "ordinal", MEASURE) == {}


def test_repeats_have_a_noise_floor():
    rng = np.random.default_rng(2)
    table = rng.choice([0.0, 1.0], (20, 3))
    votes = made({"a": [0] * 20}, repeats={"a": table})
    found = unsteadiness(votes, MEASURE)["a"]
    assert found.floor.value == pytest.approx(np.sqrt(table.var(axis=1, ddof=1).mean() / (3 * 20)))
    assert found.floor == noise_floor(table, rng=MEASURE.rng("c", "a", "noise"), bounds=(0, 1)).floor


@pytest.mark.parametrize(
    ("codes", "label"),
    [([1, 1, 1, 1], "B"), ([1, 1, 1, 2], None), ([1, 1, 1], None), ([1, 1, 1, 1, -1], "B"), ([ABSENT] * 5, None)],
)
def test_a_criterion_that_gives_every_item_the_same_is_named_by_what_it_gives(codes, label):
    assert given_to_all(made({"a": codes, "b": codes})) == label
    assert given_to_all(made({"a": codes}, panel=np.array(codes))) == label


def test_options_of_one_value_are_named_by_it():
    scale = Scale(kind="nominal", labels=("few", "many", "right"), values=(0.0, 0.0, 1.0))
    assert given_to_all(made({"a": [0, 1, 0, 1]}, scale=scale)) == "0"


def test_criteria_that_order_items_alike_are_redundant_whatever_rows_each_has():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 5, 30)
    one, twin = made({"a": codes}, name="one"), made({"a": codes}, name="twin")
    other = made({"a": rng.integers(0, 5, 30)}, name="other")
    named = made({"a": codes % 2}, name="named", scale=NAMES)
    short = Votes(
        name="short",
        scale=FIVE,
        items=np.arange(20),
        judges={"a": codes[10:]},
        truth=np.full(20, ABSENT),
        rows=one.rows[10:],
    )
    (pair,) = redundant([one, twin, other, named], MEASURE)
    assert (pair.first, pair.second, pair.spearman.value) == ("one", "twin", pytest.approx(1.0))
    assert {(pair.first, pair.second) for pair in redundant([one, short, other], MEASURE)} == {("one", "short")}
    assert redundant([one, named], MEASURE) == ()


def test_the_panels_number_before_snapping_counts_and_abstentions_do_not():
    codes = np.array([0, 1, 2, 3, -1])
    numbers = np.array([0.1, 0.2, 0.6, 0.8, 0.0])
    votes = made({"a": codes}, panel=codes, panel_values=numbers, name="one")
    other = made({"a": codes}, panel=codes, panel_values=-numbers, name="two")
    (pair,) = redundant([votes, other], MEASURE)
    assert (pair.spearman.value, pair.spearman.n) == (pytest.approx(-1.0), 4)


def test_scores_of_judges_are_compared_with_each_other():
    rng = np.random.default_rng(4)
    table = rng.random((12, 3))
    totals = Totals(items=np.arange(12), table=table, truth=np.full(12, np.nan))
    found = together_on_totals(totals, MEASURE)
    assert found["icc_single"].value == pytest.approx(intraclass(table).single.value)
    assert together_on_totals(Totals(items=np.arange(12), table=table[:, :1], truth=totals.truth), MEASURE) == {}


def test_all_of_it_is_in_the_result_and_in_its_json():
    judges, truth = random_votes(odd=True)
    same = made({name: np.ones(40, dtype=int) for name in "abc"}, name="same", scale=BINARY)
    repeats = {"a": np.random.default_rng(3).choice([0.0, 1.0], (40, 2))}
    votes = made(judges, truth=truth, repeats=repeats)
    table = np.random.default_rng(6).random((40, 3))
    result = agreement([votes, same], totals=Totals(items=np.arange(40), table=table, truth=np.full(40, np.nan)))
    assert result["same"].given_to_all == "MET"
    document = result.to_dict()
    assert set(document["criteria"]["c"]["between_judges"]["without"]) == {"a", "b", "c"}
    assert document["criteria"]["c"]["repeats"]["a"]["noise_floor"]["value"] > 0
    assert document["criteria"]["c"]["repeats"]["a"]["difference_by_luck"]["low"] is not None
    assert document["criteria"]["same"]["given_to_all"] == "MET"
    assert document["redundant_criteria"] == []
    assert document["totals_between_judges"]["icc_mean"]["n"] == 40
    shown = repr(result)
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("without c", "noise floor of repeats", "every item got MET", "effective_judges"):
        assert words in shown


def test_redundant_criteria_are_shown():
    codes = np.random.default_rng(5).integers(0, 5, 30)
    result = agreement([made({"a": codes}, name="one"), made({"a": codes}, name="twin")])
    assert "one ~ twin" in repr(result)
    assert result.to_dict()["redundant_criteria"][0]["second"] == "twin"
