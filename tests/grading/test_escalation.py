"""Escalation: a first judge decides what it is sure of, a stronger panel the rest."""

from __future__ import annotations

import json
import math
from contextlib import nullcontext

import pytest

from assay.errors import SpecError
from assay.rubric import (
    Criterion,
    CriterionGrader,
    CriterionOption,
    EscalationConfig,
    EvalConfig,
    EvalRunner,
    JudgeSpec,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
    evaluate_sync,
)

RUBRIC = Rubric(
    [
        Criterion(name="polite", requirement="The text is polite."),
        Criterion(name="short", requirement="The text is short."),
    ]
)
SURE = {"polite": 0.95, "short": 0.6}
"""The probability that the first judge gives its verdict on each criterion."""


def criterion_of(text):
    return "polite" if "is polite" in text else "short"


def sure_reply(word, probability):
    reply = json.dumps({"explanation": "e", "criterion_status": word})
    tokens = [
        {"token": reply[: reply.rindex(word)], "logprob": 0.0},
        {"token": word, "logprob": math.log(probability)},
        {"token": '"}', "logprob": 0.0},
    ]
    return {"content": reply, "logprobs": {"content": tokens}}


@pytest.fixture
def first(judge):
    """A first judge that says MET, with logprobs: sure about politeness, unsure about length."""
    return judge(lambda text: sure_reply("MET", SURE[criterion_of(text)]))


@pytest.fixture
def strong(judge):
    """A stronger judge that says UNMET; another model than the first one, so that it has replies of its own."""
    stronger = judge("UNMET")
    stronger.__assay_version__ = "stronger"
    return stronger


def cascade(first, strong, threshold=0.8, **settings):
    rest = {name: settings.pop(name) for name in ("per_criterion",) if name in settings}
    escalation = EscalationConfig(LLMConfig(strong), threshold, **rest)
    return CriterionGrader(llm_config=LLMConfig(first), escalation=escalation, seed=1, **settings)


def test_only_the_doubtful_criterion_goes_to_the_stronger_judge(first, strong):
    report = RUBRIC.grade_sync("Hello.", cascade(first, strong))
    polite, short = report.report
    assert [polite.escalated, short.escalated] == [False, True]
    assert [polite.confidence, short.confidence] == [pytest.approx(0.95), pytest.approx(0.6)]
    assert [polite.final_verdict, short.final_verdict] == ["MET", "UNMET"]
    assert [(vote.judge_id, str(vote.verdict), vote.superseded) for vote in short.votes] == [
        ("default", "MET", True),
        ("escalation", "UNMET", False),
    ]
    assert report.score == 0.5
    assert report.judge_scores == {"default": 1.0}
    assert len(strong.questions) == 1


@pytest.mark.parametrize(
    ("threshold", "per_criterion", "escalated"),
    [
        (0.0, None, []),
        (0.6, None, []),
        (0.61, None, ["short"]),
        (1.0, None, ["polite", "short"]),
        (0.0, {"polite": 0.99}, ["polite"]),
        (1.0, {"short": 0.5}, ["polite"]),
    ],
)
def test_a_confidence_at_the_threshold_is_enough(first, strong, threshold, per_criterion, escalated):
    report = RUBRIC.grade_sync("Hello.", cascade(first, strong, threshold, per_criterion=per_criterion))
    assert [each.criterion.name for each in report.report if each.escalated] == escalated


def test_without_logprobs_the_share_of_repeats_that_agree_is_the_confidence(judge, strong):
    said = {"polite": iter(["MET"] * 5), "short": iter(["MET", "UNMET", "MET", "MET", "UNMET"])}
    torn = judge(lambda text: json.dumps({"explanation": "e", "criterion_status": next(said[criterion_of(text)])}))
    report = RUBRIC.grade_sync("Hello.", cascade(torn, strong, repeats=5))
    assert [each.confidence for each in report.report] == [1.0, 0.6]
    assert [each.escalated for each in report.report] == [False, True]
    assert len(strong.questions) == 1, "the stronger judge is asked once, however often the first one was"


def test_a_judge_without_any_confidence_escalates_everything_and_says_so(judge, strong):
    with pytest.warns(RubricWarning, match="has no confidence"):
        report = RUBRIC.grade_sync("Hello.", cascade(judge("MET"), strong, 0.0))
    assert all(each.escalated and each.confidence is None for each in report.report)


@pytest.mark.parametrize("word", ["CANNOT_ASSESS", None])
def test_a_first_judge_that_abstains_or_fails_is_escalated_at_any_threshold(judge, strong, word):
    first = judge(lambda text: RuntimeError("down") if word is None else sure_reply(word, 0.99))
    with nullcontext() if word else pytest.warns(RubricWarning, match='all 2 calls to judge "default" failed'):
        report = RUBRIC.grade_sync("Hello.", cascade(first, strong, 0.0))
    assert [str(each.final_verdict) for each in report.report] == ["UNMET", "UNMET"]
    assert report.error is None


def test_a_panel_that_fails_is_a_failure_and_never_the_doubtful_verdict(first, judge):
    with pytest.warns(RubricWarning, match='the only call to judge "escalation" failed'):
        report = RUBRIC.grade_sync("Hello.", cascade(first, judge(lambda text: RuntimeError("down"))))
    assert report.score is None
    assert report.report[1].error is not None
    assert "no judge could be asked about short" in report.error


def test_options_are_escalated_by_the_probability_of_the_letter(judge, choose):
    options = [CriterionOption(label="Bad", value=0.0), CriterionOption(label="Good", value=1.0)]
    rubric = Rubric([Criterion(name="style", requirement="How is the style?", options=options)])

    def unsure(text):
        reply = choose(text, "Bad")
        letter = json.loads(reply)["selected_option"]
        head = reply[: reply.rindex(letter)]
        tokens = [(head, 0.0), (letter, math.log(0.5)), ('"}', 0.0)]
        return {"content": reply, "logprobs": {"content": [{"token": t, "logprob": p} for t, p in tokens]}}

    report = rubric.grade_sync("Hello.", cascade(judge(unsure), judge(lambda text: choose(text, "Good"))))
    (style,) = report.report
    assert style.confidence == pytest.approx(0.5)
    assert style.escalated
    assert style.label == "Good"


def test_one_request_per_item_asks_the_stronger_judge_about_the_doubtful_criteria_only(judge):
    def whole(text):
        reply = '{"criterion_1": {"criterion_status": "MET"}, "criterion_2": {"criterion_status": "MET"}}'
        middle = reply.index("criterion_2")
        parts = [reply[:middle], reply[middle : reply.rindex("MET")], "MET", '"}}']
        return {
            "content": reply,
            "logprobs": {
                "content": [{"token": token, "logprob": math.log(0.3) if token == "MET" else 0.0} for token in parts]
            },
        }

    strong = judge(lambda text: '{"criterion_1": {"criterion_status": "UNMET"}}')
    report = RUBRIC.grade_sync("Hello.", cascade(judge(whole), strong, llm_calls="per_item"))
    assert [each.escalated for each in report.report] == [False, True]
    assert [str(each.final_verdict) for each in report.report] == ["MET", "UNMET"]
    assert "The text is polite." not in strong.questions[0]


def test_a_batch_keeps_what_was_escalated_and_pays_nothing_twice(first, strong):
    dataset = RubricDataset(rubric=RUBRIC)
    for text in ("Hello.", "Goodbye."):
        dataset.add_item(text, text)
    grader = cascade(first, strong)
    plan = EvalRunner(dataset, grader).plan_sync()
    assert sum(model.calls for model in plan.models) == 8, "2 items x 2 criteria, by both judges at most"
    assert "upper bound" in plan.notes[0]
    result = evaluate_sync(dataset, grader)
    asked = len(first.questions), len(strong.questions)
    assert asked == (4, 2)
    assert result.n_escalated == 2
    again = evaluate_sync(dataset, grader)
    assert again.n_cached == 2
    assert (len(first.questions), len(strong.questions)) == asked
    short = again.item_results[0].report.report[1]
    assert short.escalated
    assert short.confidence == pytest.approx(0.6)
    assert [vote.superseded for vote in short.votes] == [True, False]
    assert sum(model.calls for model in EvalRunner(dataset, grader).plan_sync().models) == 0


def test_another_threshold_is_another_run_that_asks_only_what_is_new(first, strong):
    dataset = RubricDataset(rubric=RUBRIC)
    dataset.add_item("Hello.", "a")
    before = evaluate_sync(dataset, cascade(first, strong, 0.5))
    assert (len(first.questions), len(strong.questions)) == (2, 0)
    plan = EvalRunner(dataset, cascade(first, strong, 0.8)).plan_sync()
    assert sum(model.calls for model in plan.models) == 1, "the first votes are there: one criterion is in doubt"
    after = evaluate_sync(dataset, cascade(first, strong, 0.8))
    assert before.run != after.run
    assert (len(first.questions), len(strong.questions)) == (2, 1)


def test_a_panel_decides_by_its_own_votes(first, judge):
    specs = [JudgeSpec(LLMConfig(judge(word)), name) for name, word in (("a", "UNMET"), ("b", "UNMET"), ("c", "MET"))]
    grader = CriterionGrader(llm_config=LLMConfig(first), escalation=EscalationConfig(specs, 0.8), seed=1)
    short = RUBRIC.grade_sync("Hello.", grader).report[1]
    assert str(short.final_verdict) == "UNMET"
    assert short.agreement == pytest.approx(2 / 3)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, True, "0.8"])
def test_a_threshold_that_is_no_share_is_refused(judge, threshold):
    with pytest.raises(SpecError, match="between 0 and 1"):
        EscalationConfig(LLMConfig(judge("MET")), threshold)


def test_a_threshold_of_an_unknown_criterion_is_refused_before_anybody_is_asked(first, strong):
    grader = cascade(first, strong, per_criterion={"polit": 0.9})
    with pytest.raises(SpecError, match=r'unknown criterion "polit".*did you mean "polite"'):
        RUBRIC.grade_sync("Hello.", grader)
    dataset = RubricDataset(rubric=RUBRIC)
    dataset.add_item("Hello.", "a")
    with pytest.raises(SpecError, match="did you mean"):
        evaluate_sync(dataset, grader, config=EvalConfig())
    assert first.questions == []


def test_escalation_needs_judges_with_names_of_their_own(first, strong):
    with pytest.raises(SpecError, match="at least one"):
        EscalationConfig([], 0.8)
    specs = [JudgeSpec(LLMConfig(strong), "default")]
    with pytest.raises(SpecError, match='two judges with the id "default"'):
        CriterionGrader(llm_config=LLMConfig(first), escalation=EscalationConfig(specs, 0.8))
