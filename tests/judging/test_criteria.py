"""What a criterion may be, and what is refused before anybody is asked."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from assay.judging.criteria import ABSTAIN_LABEL, Criterion, CriterionOption, check_strategy, same

GOOD = {"label": "Good", "value": 1.0}
POOR = {"label": "Poor", "value": 0.0}


def test_a_criterion_without_options_is_met_or_not():
    criterion = Criterion(requirement="Names the capital")
    assert criterion.is_binary
    assert not criterion.is_multi_choice
    assert (criterion.weight, criterion.kind, criterion.choices, criterion.values) == (10.0, "binary", (), (0.0, 1.0))


def test_the_value_of_an_option_lies_between_0_and_1_unless_it_abstains():
    with pytest.raises(ValidationError, match="Option value must be in \\[0, 1\\], got 1.5"):
        CriterionOption(label="x", value=1.5)
    assert CriterionOption(label="x", value=1.5, na=True).na
    assert CriterionOption(label="NA", na=True).value == 0.0
    with pytest.raises(ValidationError, match="value"):
        CriterionOption(label="x")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"requirement": " "}, "the requirement is empty"),
        ({"requirement": "r", "options": [GOOD]}, "at least two that are not NA"),
        ({"requirement": "r", "options": []}, "at least two that are not NA"),
        ({"requirement": "r", "options": [GOOD, {"label": "NA", "na": True}]}, "at least two that are not NA"),
        ({"requirement": "r", "options": [GOOD, {"label": " good ", "value": 0.0}]}, 'label "good" appears twice'),
        ({"requirement": "r", "options": [GOOD, {"label": " ", "value": 0.0}]}, "a label is empty"),
        ({"requirement": "r", "weight": float("nan")}, "finite"),
        ({"requirement": "r", "weight": float("inf")}, "finite"),
        ({"requirement": "r", "weight": True}, "valid number"),
        ({"requirement": "r", "wieght": 1.0}, "wieght"),
        ({"requirement": "r", "scale_type": "interval"}, "ordinal"),
        ({"requirement": "r", "aggregation": "mean"}, 'unknown aggregation "mean" for binary votes'),
        ({"requirement": "r", "options": [GOOD, POOR], "aggregation": "majority"}, "ordinal votes"),
        ({"requirement": "r", "options": [GOOD, POOR], "scale_type": "nominal", "aggregation": "mean"}, "nominal"),
    ],
)
def test_what_cannot_be_judged_is_refused(given, message):
    with pytest.raises(ValidationError, match=message):
        Criterion.model_validate(given)


def test_a_criterion_cannot_be_changed():
    criterion = Criterion(requirement="r")
    with pytest.raises(ValidationError, match="frozen"):
        criterion.weight = 1.0


def test_a_label_is_found_in_any_case_and_a_wrong_one_lists_those_there_are():
    criterion = Criterion.model_validate({"requirement": "r", "options": [GOOD, POOR]})
    assert criterion.find_option_by_label(" pOOr ") == 1
    with pytest.raises(ValueError, match='"Fair" is not one of the labels "Good", "Poor"'):
        criterion.find_option_by_label("Fair")
    with pytest.raises(ValueError, match="has no options"):
        Criterion(requirement="r").find_option_by_label("Good")


def test_the_worst_option_follows_the_sign_of_the_weight_then_the_order(scale):
    assert scale([0.5, 0.0, 0.0, 1.0, 1.0]).worst_option_among([3, 2, 1]) == 1
    assert scale([0.5, 0.0, 0.0, 1.0, 1.0], weight=-1.0).worst_option_among([4, 3, 0]) == 3
    assert scale([0.5, 0.0], weight=0.0).worst_option_among([0, 1]) == 1


def test_an_option_to_abstain_is_added_at_the_end_where_there_is_none(scale):
    criterion = scale([0.0, 1.0])
    added = criterion.with_abstention()
    assert [option.label for option in added.choices] == ["1", "2", ABSTAIN_LABEL]
    assert (added.na_index, added.values) == (2, (0.0, 1.0))
    assert added.with_abstention() is added
    binary = Criterion(requirement="r")
    assert binary.with_abstention() is binary
    taken = scale([0.0, 1.0], labels=["cannot assess", "fine"]).with_abstention()
    assert len({option.label.casefold() for option in taken.choices}) == 3


def test_names_of_aggregations_are_checked_by_kind():
    check_strategy("weighted_mode", "nominal")
    with pytest.raises(ValueError, match='unknown aggregation "bogus" for ordinal votes; known: mean, median'):
        check_strategy("bogus", "ordinal")


def test_sums_that_differ_in_the_last_digit_are_the_same():
    assert 0.1 + 0.2 != 0.3
    assert same(0.1 + 0.2, 0.3)
    assert same(1e12, 1e12 + 1)
    assert not same(0.3, 0.300001)
