"""`compute_metrics`: a panel beside people, per criterion, per judge and in the scores."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assay.errors import SpecError
from assay.grading.comparison import contents
from assay.rubric import (
    CannotAssessConfig,
    Criterion,
    LengthPenalty,
    Rubric,
    RubricDataset,
    compute_metrics,
    evaluate_sync,
)

TEXTS = ["one", "two", "three", "four", "five", "six"]
TRUTHS = [
    ["4", "Just right", "All claims"],
    ["1", "Too few interactions", "None"],
    ["2", "Just right", "NA - No references provided"],
    ["3", "Too many interactions", "All claims"],
    ["4", "Just right", "None"],
    ["1", "Too few interactions", "All claims"],
]
CRITERIA = ("How satisfied", "exchange turns", "backed by the references")


def dataset_of(rubric, truths=TRUTHS):
    dataset = RubricDataset(rubric=rubric, name="texts")
    for text, truth in zip(TEXTS, truths, strict=True):
        dataset.add_item(f"Text {text}.", ground_truth=truth)
    return dataset


@pytest.fixture
def perfect(choose):
    """What a judge answers who knows the truth."""

    def answer(text):
        place = next(n for n, word in enumerate(TEXTS) if f"Text {word}." in text)
        return choose(text, TRUTHS[place][next(n for n, part in enumerate(CRITERIA) if part in text)])

    return answer


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"score_value": "continuous", "cannot_assess_config": CannotAssessConfig("zero")},
        {"cannot_assess_config": CannotAssessConfig("partial", 0.3), "normalize": False},
        {
            "cannot_assess_config": CannotAssessConfig("fail"),
            "length_penalty": LengthPenalty(free_budget=0, max_cap=4, penalty_at_cap=0.4),
        },
    ],
)
def test_a_perfect_judge_has_no_error_under_any_rule(three_scales, judge, panel, perfect, rules):
    dataset = dataset_of(three_scales)
    result = evaluate_sync(dataset, panel(a=judge(perfect), **rules))
    found = compute_metrics(result, dataset)
    assert found.overall["a"]["micro_accuracy"].value == 1.0
    assert found.overall["panel"]["macro_kappa_quadratic"].value == pytest.approx(1.0)
    assert [found.scores["panel"][name].value for name in ("rmse", "rmse_continuous", "mae", "bias")] == [0.0] * 4
    assert found["references"].judges["a"].abstentions.both == 1
    assert found["satisfaction"].judges["a"].values["spearman"].value == pytest.approx(1.0)


def test_a_panel_and_each_judge_are_measured(three_scales, judge, panel, perfect, choose):
    def stuck(text):
        label = {"How satisfied": "4", "exchange turns": "Just right", "backed": "All claims"}
        return choose(text, next(said for part, said in label.items() if part in text))

    def broken(text):
        return RuntimeError("down") if "Text one." in text else perfect(text)

    dataset = dataset_of(three_scales)
    grader = panel(good=judge(perfect), bad=judge(stuck), gone=judge(broken))
    result = evaluate_sync(dataset, grader)
    found = compute_metrics(result, dataset, grader=grader)
    satisfaction = found["satisfaction"].judges
    assert satisfaction["good"].values["accuracy"].value == 1.0
    assert satisfaction["bad"].values["accuracy"].value == pytest.approx(2 / 6)
    assert satisfaction["bad"].values["bias"].value == pytest.approx((1 + 0.67 + 0.33 + 1) / 6)
    assert (satisfaction["gone"].n_failed, satisfaction["gone"].values["accuracy"].n) == (1, 5)
    # of each item: the mean of the two or three judges' values less the truth
    errors = [0, 1 / 3, 0.67 / 3, 0.33 / 3, 0, 1 / 3]
    assert satisfaction["panel"].values["bias"].value == pytest.approx(sum(errors) / 6)
    assert set(found["satisfaction"].between.pairs) == {("good", "bad"), ("good", "gone"), ("bad", "gone")}
    assert found["efficiency"].between.values["alpha_nominal"].value < 1
    assert satisfaction["bad"].values["spearman"].value is None
    assert satisfaction["bad"].values["spearman"].reason == "one side has equal values only"
    assert found.scores["bad"]["rmse"].value > found.scores["good"]["rmse"].value == 0.0
    assert "truth · bad" in repr(found)
    assert max(map(len, repr(found).splitlines())) <= 80
    assert json.loads(json.dumps(found.to_dict()))["criteria"]["satisfaction"]["kind"] == "ordinal"


def test_criteria_are_matched_by_content_not_by_position(three_scales, judge, panel, perfect):
    dataset = dataset_of(three_scales)
    result = evaluate_sync(dataset, panel(a=judge(perfect)))
    turned = Rubric(three_scales.criteria[::-1])
    found = compute_metrics(result, dataset_of(turned, [truth[::-1] for truth in TRUTHS]))
    assert {each.name for each in found.criteria} == {"satisfaction", "efficiency", "references"}
    assert found.overall["a"]["micro_accuracy"].value == 1.0
    assert found.scores["a"]["rmse"].value == 0.0


def test_several_annotators_have_a_ceiling_and_their_majority_is_the_truth(judge, panel):
    rubric = Rubric([Criterion(requirement="Is polite.", name="polite")])
    dataset = RubricDataset(rubric=rubric, name="people")
    said = {"x": ["MET", "UNMET", "MET"], "y": ["MET", "UNMET", "UNMET"], "z": ["MET", "MET", "CANNOT_ASSESS"]}
    for place, text in enumerate(("Thanks.", "No.", "Perhaps.")):
        dataset.add_item(text, ground_truth={name: [each[place]] for name, each in said.items()})
    found = compute_metrics(evaluate_sync(dataset, panel(a=judge("MET"))), dataset)["polite"]
    assert found.n_without_truth == 1
    assert found.judges["a"].values["accuracy"].value == 0.5
    assert 0 < found.ceilings["a"].ceiling.value < 1
    assert len(found.people.pairs) == 3


def test_an_item_that_was_not_graded_is_named_and_in_no_number(judge, panel):
    def answer(text):
        if "Text two." in text:
            return RuntimeError("down")
        return json.dumps({"explanation": "e", "criterion_status": "MET"})

    rubric = Rubric([Criterion(requirement="Is polite.", name="polite")])
    dataset = dataset_of(rubric, [["MET"]] * 6)
    found = compute_metrics(evaluate_sync(dataset, panel(a=judge(answer))), dataset)
    assert found.notes == ("1 items were not graded and are excluded from all metrics",)
    assert found["polite"].judges["a"].values["accuracy"].n == 5
    assert found["polite"].judges["a"].values["kappa"].reason == "only one class occurs"


def test_rubrics_of_single_items_are_told_apart_by_content(judge, panel):
    polite, short = (Rubric([Criterion(requirement=text, name="c")]) for text in ("Is polite.", "Is short."))
    dataset = RubricDataset(rubric=polite, name="own")
    dataset.add_item("Thanks.", ground_truth=["MET"])
    dataset.add_item("No.", ground_truth=["UNMET"], rubric=short)
    found = compute_metrics(evaluate_sync(dataset, panel(a=judge("MET"))), dataset)
    assert [(each.name, each.n_items) for each in found.criteria] == [("c", 1), ("c (2)", 1)]
    assert found.overall["a"]["micro_accuracy"].value == 0.5


def test_another_dataset_or_one_without_a_truth_is_refused(judge, panel):
    rubric = Rubric([Criterion(requirement="Is polite.", name="polite")])
    dataset = dataset_of(rubric, [["MET"]] * 6)
    result = evaluate_sync(dataset, panel(a=judge("MET")))
    with pytest.raises(SpecError, match="item 0 of the dataset is not the one that was graded"):
        compute_metrics(result, RubricDataset(rubric=rubric))
    with pytest.raises(SpecError, match="no item of the dataset has a ground truth"):
        compute_metrics(result, dataset_of(rubric, [None] * 6))
    with pytest.raises(SpecError, match="no item with a ground truth was graded"):
        compute_metrics(replace(result, item_results=()), dataset)
    by_hand = compute_metrics(replace(result, store=""), dataset)
    assert by_hand.scores["a"]["rmse"].value == 0.0


def test_the_content_of_a_criterion_is_not_its_weight_or_name():
    one = Criterion(requirement="Polite", name="a", weight=1.0)
    assert contents([one]) == contents([Criterion(requirement="Polite", name="b")])
    assert contents([one]) != contents([Criterion(requirement="Kind", name="a")])


def test_repeats_are_one_opinion_and_have_a_noise_floor(judge, panel, choose):
    dataset = dataset_of(Rubric([Criterion(requirement="How satisfied?", name="s", options=_scale())]), _labels())
    # the answer hangs on the place, so repeats with other orders differ
    result = evaluate_sync(
        dataset, panel(a=judge(lambda text: '{"selected_option": "A"}'), repeats=5, auto_na_option=False)
    )
    found = compute_metrics(result, dataset)["s"]
    assert found.judges["a"].values["accuracy"].n == 6
    assert found.noise["a"].floor.value > 0
    steady = evaluate_sync(dataset, panel(a=judge(lambda text: choose(text, "2")), repeats=3))
    assert compute_metrics(steady, dataset)["s"].noise["a"].floor.value == 0.0


def _scale():
    return [{"label": str(n), "value": n / 3} for n in range(4)]


def _labels():
    return [[str(n % 4)] for n in range(6)]
