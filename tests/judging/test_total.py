"""The score: weights, abstentions, coverage, sections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judging.criteria import Criterion, CriterionVerdict
from assay.judging.total import NO_POSITIVE, NOTHING, Scoring, Section, total, value_of
from assay.judging.verdicts import AggregatedMultiChoiceVerdict

M, U, A = CriterionVerdict.MET, CriterionVerdict.UNMET, CriterionVerdict.CANNOT_ASSESS


def _binary(*weights):
    return [Criterion(requirement=f"r{n}", weight=float(weight)) for n, weight in enumerate(weights)]


@pytest.mark.parametrize(
    ("weights", "verdicts", "score", "raw"),
    [
        ([10, -4], [M, M], 0.6, 6.0),
        ([10, 10, -5], [M, A, M], 0.5, 5.0),
        ([10, -5], [A, U], None, 0.0),
        ([10, 5], [M, U], 10 / 15, 10.0),
        ([10, -20], [M, M], 0.0, -10.0),
        ([-5, -5], [M, U], 0.5, -5.0),
        ([-5, -5], [U, A], 1.0, 0.0),
        ([0], [M], 0.0, 0.0),
        ([10], [A], None, None),
        ([-10], [A], None, None),
        ([], [], None, None),
    ],
)
def test_the_score_when_abstentions_are_left_out(weights, verdicts, score, raw):
    made = total(_binary(*weights), verdicts, Scoring())
    assert made.score == pytest.approx(score)
    assert made.raw_score == raw


@pytest.mark.parametrize(
    ("rule", "score", "raw"),
    [("skip", 0.5, 5.0), ("zero", 0.25, 5.0), ("partial", 0.5, 10.0), ("fail", 0.05, 1.0)],
)
def test_abstentions_by_rule(rule, score, raw):
    made = total(_binary(10, 10, -5, -4), [M, A, M, A], Scoring(cannot_assess=rule))
    assert made.score == pytest.approx(score)
    assert made.raw_score == pytest.approx(raw)
    assert made.cannot_assess_count == 2


def test_a_fault_with_options_fails_by_its_highest_value(scale):
    criteria = [Criterion(requirement="r"), scale([0.0, 0.8, None], weight=-5.0)]
    assert total(criteria, [M, "NA"], Scoring(cannot_assess="fail")).raw_score == 10 - 4
    assert total(criteria, [M, "NA"], Scoring(cannot_assess="partial")).raw_score == 10


def test_a_score_that_is_missing_says_why():
    assert total(_binary(10, -5), [A, U], Scoring()).reason == NO_POSITIVE
    assert total(_binary(10), [A], Scoring()).reason == NOTHING
    thin = total(_binary(10, 30), [M, A], Scoring(min_coverage=0.5))
    assert (thin.score, thin.raw_score, thin.coverage) == (None, 10.0, 0.25)
    assert thin.reason == "only 25% of the weights were assessed; at least 50%"
    assert total(_binary(10), [M], Scoring()).reason is None


def test_coverage_and_the_bounds_of_what_the_score_could_have_been(scale):
    made = total(_binary(10, 10, -5), [M, A, A], Scoring())
    assert made.coverage == pytest.approx(0.4)
    assert (made.score, made.score_low, made.score_high) == (1.0, 0.25, 1.0)
    graded = total([Criterion(requirement="r"), scale([0.2, 0.8, None])], [M, "NA"], Scoring())
    assert (graded.score_low, graded.score_high) == (pytest.approx(0.6), pytest.approx(0.9))
    assert total(_binary(0, 0), [M, A], Scoring()).coverage == 0.5


def test_sections_have_scores_of_their_own_and_never_enter_the_total():
    sections = [Section(name="form", start=0, stop=2), Section(name="facts", start=2, stop=3)]
    made = total(_binary(10, 10, 20), [M, U, A], Scoring(), sections)
    assert made.score == 0.5
    assert made.sections["form"].score == 0.5
    assert (made.sections["facts"].score, made.sections["facts"].coverage) == (None, 0.0)


def test_the_score_can_use_the_number_before_snapping(scale):
    criterion = scale([0.0, 0.25, 0.5, 0.75, 1.0])
    verdict = AggregatedMultiChoiceVerdict(selected_index=3, selected_label="4", value=0.75, aggregated_value=0.6875)
    assert total([criterion], [verdict], Scoring()).score == 0.75
    assert total([criterion], [verdict], Scoring(score_value="continuous")).score == 0.6875
    assert value_of(criterion, verdict) == 0.75


def test_a_raw_score_is_not_clamped():
    assert total(_binary(10, -20), [M, M], Scoring(normalize=False)).score == -10.0


def test_what_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="2 criteria, but there are 1 verdicts"):
        total(_binary(1, 2), [M], Scoring())
    with pytest.raises(ValueError, match='"sometimes"; known: skip'):
        Scoring(cannot_assess="sometimes")
    with pytest.raises(ValueError, match="score_value"):
        Scoring(score_value="rough")
    with pytest.raises(ValueError, match="min_coverage must be between 0 and 1"):
        Scoring(min_coverage=2.0)


@given(
    st.lists(st.tuples(st.sampled_from([-10.0, -4.0, 0.0, 5.0, 10.0]), st.sampled_from([M, U, A])), max_size=6),
    st.sampled_from(["skip", "zero", "partial", "fail"]),
)
def test_a_score_lies_between_0_and_1_and_its_bounds_hold_when_all_is_assessed(pairs, rule):
    criteria = _binary(*(weight for weight, _ in pairs))
    made = total(criteria, [verdict for _, verdict in pairs], Scoring(cannot_assess=rule))
    assert made.score is None or 0 <= made.score <= 1
    assert 0 <= made.coverage <= 1
    if pairs and all(verdict is not A for _, verdict in pairs):
        assert made.score == made.score_low == made.score_high
        assert made.coverage == 1.0
    if made.score_low is not None:
        assert made.score_low <= made.score_high
