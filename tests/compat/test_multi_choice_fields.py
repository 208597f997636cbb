"""Criteria with options: the fields that programs written for AutoRubric read."""

import json
import warnings

import pytest
from pydantic import ValidationError

from assay.rubric import (
    Criterion,
    CriterionGrader,
    CriterionOption,
    CriterionReport,
    JudgeSpec,
    LLMConfig,
    MultiChoiceJudgeVote,
    MultiChoiceJudgment,
    MultiChoiceVerdict,
    Rubric,
    RubricDataset,
)

OPTIONS = [CriterionOption(label=label, value=value) for label, value in (("poor", 0), ("fair", 0.5), ("good", 1))]
RUBRIC = Rubric([Criterion(name="quality", requirement="How good is it?", options=OPTIONS)])


def answering(messages, **parameters):
    return json.dumps({"explanation": "e", "selected_option": 1})


def failing(messages, **parameters):
    raise RuntimeError("HTTP 500 from the provider")


def graded(*models, **settings):
    judges = [JudgeSpec(LLMConfig(model), name) for name, model in zip("abc", models, strict=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # panels of two can tie, abstentions lower the coverage
        return RUBRIC.grade_sync("text", CriterionGrader(judges=judges, seed=3, **settings)).report[0]


def test_one_judges_order_is_the_criterions():
    report = graded(answering)
    assert sorted(report.shuffle_order) == [0, 1, 2, 3]
    assert report.shuffle_order == report.multi_choice_votes[0].shuffle_order


def test_judges_that_saw_different_orders_leave_the_criterion_without_one():
    report = graded(answering, answering, answering)
    orders = [vote.shuffle_order for vote in report.multi_choice_votes]
    assert all(type(order) is list for order in orders)
    expected = orders[0] if len({tuple(order) for order in orders}) == 1 else None
    assert report.shuffle_order == expected


@pytest.mark.parametrize("models", [(answering,), (answering, answering, answering)])
def test_options_that_are_not_shuffled_have_no_order(models):
    assert graded(*models, shuffle_options=False).shuffle_order is None


def test_an_error_vote_keeps_its_cause():
    report = graded(answering, failing)
    assert report.multi_choice_votes[1].error.startswith("infrastructure: ")
    assert "HTTP 500 from the provider" in report.multi_choice_votes[1].error


def test_lists_stay_lists():
    vote = MultiChoiceJudgeVote(
        judge_id="a", selected_index=1, selected_label="fair", value=0.5, reason="r", shuffle_order=[2, 0, 1]
    )
    assert vote.shuffle_order == [2, 0, 1]
    assert CriterionReport(requirement="r", reason="r", shuffle_order=[1, 0]).shuffle_order == [1, 0]
    dataset = RubricDataset(rubric=RUBRIC)
    dataset.add_item("text", "item", ["good"])
    assert dataset.items[0].ground_truth == ["good"]


def test_option_values_are_checked_and_converted():
    option = CriterionOption(label="half", value="0.5")
    assert option.value == 0.5
    assert option.validate_value_range() is option
    with pytest.raises(ValidationError, match=r"Option value must be in \[0, 1\], got 1.5"):
        CriterionOption(label="x", value=1.5)


@pytest.mark.parametrize(
    ("kind", "fields", "missing"),
    [
        (MultiChoiceVerdict, {"selected_index": 1}, "value"),
        (MultiChoiceJudgment, {"selected_option": 1}, "explanation"),
    ],
)
def test_required_fields(kind, fields, missing):
    with pytest.raises(ValidationError, match=f"{missing}\n +Field required"):
        kind(**fields)
