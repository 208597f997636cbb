"""What a submission loses for its length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SpecError
from assay.judging.criteria import Criterion
from assay.judging.length import LengthPenalty, words_in
from assay.judging.total import Scoring, Section, total

PENALTY = LengthPenalty(free_budget=100, max_cap=200, penalty_at_cap=0.4, exponent=2.0)
TWO = (Criterion(requirement="One."), Criterion(requirement="Two."))


@pytest.mark.parametrize(
    ("words", "loss"), [(0, 0.0), (100, 0.0), (101, 0.4 * 0.01**2), (150, 0.1), (200, 0.4), (9999, 0.4)]
)
def test_the_penalty_grows_from_the_free_budget_to_the_cap(words, loss):
    assert PENALTY.of(words) == pytest.approx(loss)


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_longer_text_never_loses_less_and_none_loses_more_than_at_the_cap(a, b):
    short, long = sorted((a, b))
    assert 0 <= PENALTY.of(short) <= PENALTY.of(long) <= 0.4


@pytest.mark.parametrize(
    "wrong",
    [
        {"free_budget": 10, "max_cap": 10},
        {"free_budget": -1},
        {"exponent": 0.0},
        {"penalty_at_cap": float("nan")},
        {"penalty_at_cap": -0.1},
    ],
)
def test_a_penalty_that_makes_no_sense_is_an_error(wrong):
    with pytest.raises(SpecError):
        LengthPenalty(**wrong)


def test_words_stand_between_white_space():
    assert words_in(" one\ttwo\n\nthree, four ") == 4
    assert words_in("") == 0


def test_the_score_loses_and_the_raw_score_and_the_sections_do_not():
    scoring = Scoring(length_penalty=PENALTY)
    score = total(TWO, ["MET", "UNMET"], scoring, [Section(name="all", start=0, stop=2)], words=150)
    assert score.score == pytest.approx(0.4)
    assert (score.raw_score, score.sections["all"].score) == (10.0, 0.5)
    unsure = total(TWO, ["MET", "CANNOT_ASSESS"], scoring, words=150)
    assert (unsure.score_low, unsure.score, unsure.score_high) == pytest.approx((0.4, 0.9, 0.9))


def test_the_score_is_floored_at_0_and_one_that_is_not_there_stays_so():
    scoring = Scoring(length_penalty=PENALTY)
    assert total(TWO, ["UNMET", "UNMET"], scoring, words=300).score == 0.0
    assert total(TWO, ["CANNOT_ASSESS", "CANNOT_ASSESS"], scoring, words=300).score is None


def test_a_score_that_is_not_normalized_loses_nothing():
    assert total(TWO, ["MET", "MET"], Scoring(normalize=False, length_penalty=PENALTY), words=300).score == 20.0
