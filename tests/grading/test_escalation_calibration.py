"""Calibrating an escalation: replays and curves against tables computed by hand."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from decimal import Decimal

import pytest

from assay.errors import SpecError
from assay.rubric import (
    Criterion,
    CriterionGrader,
    EscalationConfig,
    EscalationCurve,
    JudgeSpec,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
    calibrate_escalation,
    escalation_stats,
    evaluate_sync,
    replay_escalation,
)

TABLE = [
    # label, first judge, its confidence, panel
    ("MET", "MET", 0.95, "MET"),
    ("MET", "MET", 0.90, "UNMET"),
    ("UNMET", "MET", 0.70, "UNMET"),
    ("UNMET", "UNMET", 0.60, "UNMET"),
    ("MET", "UNMET", 0.55, "MET"),
    ("UNMET", "MET", 0.50, "MET"),
]
RUBRIC = Rubric([Criterion(name="polite", requirement="Is polite.")])


def row_of(text):
    return int(re.search(r"^text (\d+)$", text, re.MULTILINE)[1])


def reply(word, probability=None):
    text = json.dumps({"explanation": "e", "criterion_status": word})
    if probability is None:
        return text
    head, tail = text.rsplit(word, 1)
    tokens = [(head, 0.0), (word, math.log(probability)), (tail, 0.0)]
    return {"content": text, "logprobs": {"content": [{"token": t, "logprob": p} for t, p in tokens]}}


@pytest.fixture
def dataset():
    made = RubricDataset(rubric=RUBRIC)
    for number, (label, *_) in enumerate(TABLE):
        made.add_item(f"text {number}", f"item {number}", ground_truth=[label])
    return made


@pytest.fixture
def first(judge):
    return judge(lambda text: reply(TABLE[row_of(text)][1], TABLE[row_of(text)][2]))


@pytest.fixture
def strong(judge):
    stronger = judge(lambda text: reply(TABLE[row_of(text)][3]))
    stronger.__assay_version__ = "stronger"
    return stronger


@pytest.fixture
def runs(dataset, first, strong):
    """A run of the first judge alone and one of the stronger judge alone, with a price each."""
    alone = evaluate_sync(dataset, CriterionGrader(llm_config=LLMConfig(first), seed=1))
    panel = CriterionGrader(judges=[JudgeSpec(LLMConfig(strong), "escalation")], seed=1)
    return (
        replace(alone, total_completion_cost=Decimal("0.6")),
        replace(evaluate_sync(dataset, panel), total_completion_cost=Decimal(6)),
    )


BY_HAND = [
    # threshold, rate, accuracy kept, first judge and panel on what was escalated, all verdicts, cost
    (0.0, 0, 3 / 6, None, None, 3 / 6, 0.6),
    (0.6, 2 / 6, 3 / 4, 0 / 2, 1 / 2, 4 / 6, 2.6),
    (0.8, 4 / 6, 2 / 2, 1 / 4, 3 / 4, 5 / 6, 4.6),
    (1.0, 6 / 6, None, 3 / 6, 4 / 6, 4 / 6, 6.6),
]


def test_the_curve_is_the_table_computed_by_hand(dataset, runs):
    curve = calibrate_escalation(dataset, *runs, thresholds=[row[0] for row in BY_HAND])
    fields = [
        (
            point.threshold,
            point.escalation_rate,
            point.dm_accuracy_kept,
            point.dm_accuracy_escalated,
            point.fallback_accuracy_escalated,
            point.metric,
            point.cost_usd,
        )
        for point in curve.points
    ]
    for measured, expected in zip(fields, BY_HAND, strict=True):
        assert measured == pytest.approx(expected), expected[0]


def test_the_best_point_escalates_least_within_the_tolerance(dataset, runs):
    curve = calibrate_escalation(dataset, *runs, thresholds=[row[0] for row in BY_HAND])
    assert curve.best().threshold == 0.8
    assert curve.best(max_escalation_rate=0.5).threshold == 0.6
    assert curve.best(tolerance=0.2).threshold == 0.6
    assert curve.best(tolerance=1.0).threshold == 0.0
    with pytest.raises(SpecError, match="between 0 and 1"):
        curve.best(max_escalation_rate=2)
    with pytest.raises(SpecError, match="lowest rate is 1"):
        EscalationCurve(points=curve.points[-1:]).best(max_escalation_rate=0.5)


def test_the_usual_sweep_has_51_thresholds_and_a_lower_one_never_escalates_more(dataset, runs):
    curve = calibrate_escalation(dataset, *runs)
    assert [curve.points[0].threshold, curve.points[1].threshold, curve.points[-1].threshold] == [0.0, 0.02, 1.0]
    assert len(curve.points) == 51
    rates = [point.escalation_rate for point in curve.points]
    assert rates == sorted(rates)
    # above every confidence up to .60 and at most .70: items 4, 5 and 6 are escalated
    assert next(point for point in curve.points if point.threshold == 0.62).escalation_rate == 3 / 6


def test_a_replay_is_what_a_live_escalation_gives(dataset, runs, first, strong):
    live = evaluate_sync(
        dataset,
        CriterionGrader(
            llm_config=LLMConfig(first), escalation=EscalationConfig(LLMConfig(strong), threshold=0.8), seed=1
        ),
    )
    replayed = replay_escalation(*runs, 0.8)
    assert replayed.get_scores() == live.get_scores()
    for one, other in zip(live.get_reports(), replayed.get_reports(), strict=True):
        assert [each.escalated for each in one.report] == [each.escalated for each in other.report]
        assert [each.votes for each in one.report] == [each.votes for each in other.report]
        assert one.judge_scores == other.judge_scores
    same = escalation_stats(live, dataset).model_dump(exclude={"cost_usd", "compute_seconds"})
    assert escalation_stats(replayed, dataset).model_dump(exclude={"cost_usd", "compute_seconds"}) == same


def test_replaying_a_point_on_its_own_items_warns(dataset, runs):
    point = calibrate_escalation(dataset, *runs, thresholds=[0.8]).best()
    with pytest.warns(RubricWarning, match="calibrated on these items"):
        replayed = replay_escalation(*runs, point)
    assert escalation_stats(replayed, dataset).metric == pytest.approx(5 / 6)


def test_calls_per_item_cost_the_whole_panel_for_an_item_with_any_escalation(dataset, runs):
    (point,) = calibrate_escalation(dataset, *runs, thresholds=[0.6], llm_calls="per_item").points
    assert point.cost_usd == pytest.approx(0.6 + 6 * 2 / 6)


def test_another_metric_is_taken_from_the_metrics_of_the_run(dataset, runs):
    curve = calibrate_escalation(dataset, *runs, thresholds=[0.0, 0.8], metric=lambda metrics: 0.25)
    assert [point.metric for point in curve.points] == [0.25, 0.25]
    with pytest.raises(SpecError, match='unknown metric "acuracy"'):
        calibrate_escalation(dataset, *runs, thresholds=[0.8], metric="acuracy")


def test_criteria_get_thresholds_of_their_own_where_there_are_labels_enough(judge):
    # the first judge is right about "polite" and wrong about "short"; its confidence never tells
    rubric = Rubric([Criterion(name=name, requirement=f"Is {name}.") for name in ("polite", "short")])
    dataset = RubricDataset(rubric=rubric)
    for number in range(2):
        dataset.add_item(f"text {number}", f"item {number}", ground_truth=["MET", "MET"])
    first = judge(lambda text: reply("MET" if "Is polite." in text else "UNMET", 0.5))
    strong = judge(lambda text: reply("UNMET" if "Is polite." in text else "MET"))
    strong.__assay_version__ = "stronger"
    runs = [
        evaluate_sync(dataset, CriterionGrader(judges=[JudgeSpec(LLMConfig(model), name)], seed=1))
        for name, model in (("first", first), ("strong", strong))
    ]
    usual = calibrate_escalation(dataset, *runs, thresholds=[0.0, 1.0])
    assert [point.metric for point in usual.points] == [0.5, 0.5]
    fitted = calibrate_escalation(dataset, *runs, thresholds=[0.0, 1.0], per_criterion=True, min_pairs_per_criterion=2)
    assert [point.per_criterion for point in fitted.points] == [{"polite": 0.0, "short": 1.0}] * 2
    assert [point.metric for point in fitted.points] == [1.0, 1.0]
    with pytest.warns(RubricWarning, match=r'fewer than 30.*"polite" \(2\)'):
        thin = calibrate_escalation(dataset, *runs, thresholds=[0.0, 1.0], per_criterion=True)
    assert thin == usual


def test_what_cannot_be_calibrated_is_refused(dataset, runs):
    unlabelled = RubricDataset(rubric=RUBRIC)
    for item in dataset:
        unlabelled.add_item(item.submission, item.description)
    with pytest.raises(SpecError, match="needs labels of people"):
        calibrate_escalation(unlabelled, *runs)
    with pytest.raises(SpecError, match="between 0 and 1"):
        calibrate_escalation(dataset, *runs, thresholds=[0.5, 1.2])
    with pytest.raises(SpecError, match="at least one threshold"):
        calibrate_escalation(dataset, *runs, thresholds=[])
    with pytest.raises(SpecError, match='unknown criterion "polit"'):
        replay_escalation(*runs, 0.5, per_criterion={"polit": 0.5})
    fewer = replace(runs[1], item_results=runs[1].item_results[:-1])
    with pytest.raises(SpecError, match="different items"):
        replay_escalation(runs[0], fewer, 0.5)
    with pytest.raises(SpecError, match="each judge alone"):
        replay_escalation(replay_escalation(*runs, 0.8), runs[1], 0.5)


def test_an_item_that_the_panel_could_not_grade_has_no_score_if_it_is_escalated(dataset, runs):
    first, panel = runs
    lost = [
        replace(each, report=None, error="outage") if each.item_idx in (0, 5) else each for each in panel.item_results
    ]
    replayed = replay_escalation(first, replace(panel, item_results=tuple(lost)), 0.8)
    assert [item.error for item in replayed.item_results] == [None] * 5 + ["the panel has no report: outage"]
