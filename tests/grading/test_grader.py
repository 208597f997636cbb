"""Grading one submission from Python."""

from __future__ import annotations

import asyncio
import re
import warnings

import pytest

from assay.errors import SpecError
from assay.rubric import (
    CannotAssessConfig,
    CannotAssessStrategy,
    Criterion,
    CriterionGrader,
    CriterionVerdict,
    FewShotConfig,
    JudgeSpec,
    LengthPenalty,
    LLMConfig,
    Rubric,
    RubricDataset,
    RubricWarning,
)

CAPITAL = Rubric([Criterion(requirement="Names the capital.", name="capital")])


def test_one_judge_grades_a_submission(judge):
    asked = judge("MET")
    grader = CriterionGrader(llm_config=LLMConfig(asked), seed=42)
    report = asyncio.run(CAPITAL.grade("It is Paris.", grader, query="What is the capital?"))
    assert (report.score, report.raw_score, report.seed) == (1.0, 10.0, 42)
    assert report.report[0].final_verdict is CriterionVerdict.MET
    assert report.judge_scores == {"default": 1.0}
    assert "What is the capital?" in asked.questions[0]
    assert report.completion_cost is None
    assert CAPITAL.grade_sync({"thinking": "hm", "output": "It is Paris."}, grader).score == 1.0


def test_the_three_scales_grade_as_written(three_scales, judge, choose):
    labels = {"satisfied": "4", "turns": "Just right", "backed": "NA - No references provided"}
    asked = judge(lambda text: choose(text, next(label for word, label in labels.items() if word in text)))
    report = three_scales.grade_sync("A response.", CriterionGrader(llm_config=LLMConfig(asked), seed=42))
    assert [each.label for each in report.report] == ["4", "Just right", "NA - No references provided"]
    assert (report.score, report.raw_score, report.coverage) == (1.0, 15.0, 0.6)
    assert report.cannot_assess_count == 1


def test_an_unset_seed_is_drawn_once_and_reported(judge, three_scales, choose):
    asked = judge(lambda text: '{"selected_option": "A"}')
    grader = CriterionGrader(llm_config=LLMConfig(asked))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RubricWarning)  # the first option may be one that abstains
        first, second = (three_scales.grade_sync("text", grader) for _ in range(2))
    assert first.seed == second.seed == grader.seed
    orders = [[vote.shuffle_order for each in report.report for vote in each.votes] for report in (first, second)]
    assert orders[0] == orders[1]
    plain = CriterionGrader(llm_config=LLMConfig(asked), shuffle_options=False)
    (vote,) = three_scales.grade_sync("text", plain).report[0].votes
    assert (plain.seed, vote.shuffle_order) == (None, [0, 1, 2, 3, 4])


def test_a_series_is_balanced_by_its_rows(judge, three_scales):
    grader = CriterionGrader(
        llm_config=LLMConfig(judge(lambda text: '{"selected_option": "A"}')), shuffle="counterbalanced"
    )
    labels = [three_scales.grade_sync("text", grader, row=row).report[0].label for row in range(8)]
    assert labels == ["1", "2", "3", "4", "1", "2", "3", "4"]


def _training(n=6):
    training = RubricDataset("Which capital?", CAPITAL)
    for index in range(n):
        training.add_item(f"answer {index}", ground_truth=["MET" if index % 3 else "UNMET"])
    return training


def test_a_judge_sees_what_people_said_of_other_submissions(judge):
    asked = judge("MET")
    config = FewShotConfig(n_examples=4, seed=7)
    grader = CriterionGrader(llm_config=LLMConfig(asked), few_shot_config=config, training_data=_training())
    CAPITAL.grade_sync("answer 3", grader, query="Which capital?")
    (text,) = asked.questions
    shown = re.findall(r"BEGIN EXAMPLE [0-9a-f]+=====\n(.*)\n.*\nVerdict: (.*)", text)
    assert len(shown) == 4
    assert {submission: verdict for submission, verdict in shown if verdict == "UNMET"} == {"answer 0": "UNMET"}
    assert "answer 3" not in dict(shown)
    assert "EXAMPLE PROMPT" not in text
    assert text.index("answer 3") < text.index("BEGIN EXAMPLE") < text.index("Names the capital.")
    CAPITAL.grade_sync("answer 9", grader, query="Another question?")
    assert "EXAMPLE PROMPT" in asked.questions[1]


def test_a_criterion_without_examples_is_named(judge):
    other = Rubric([*CAPITAL.criteria, Criterion(requirement="Is polite.", name="polite")])
    config = FewShotConfig(n_examples=2)
    grader = CriterionGrader(llm_config=LLMConfig(judge("MET")), few_shot_config=config, training_data=_training())
    with pytest.warns(RubricWarning, match='no training example was judged by "polite"'):
        assert other.grade_sync("text", grader).score == 1.0


def test_a_dead_judge_is_named_and_the_others_decide(judge, panel):
    grader = panel(a=judge("MET"), b=judge(lambda text: RuntimeError("out of order")), c=judge("MET"))
    with pytest.warns(RubricWarning, match='the only call to judge "b" failed'):
        report = CAPITAL.grade_sync("text", grader)
    assert (report.score, report.error) == (1.0, None)
    assert report.report[0].votes[1].error_category == "infrastructure"


def test_an_even_panel_warns_once(judge, panel):
    with pytest.warns(RubricWarning, match="even number of judges"):
        grader = panel(a=judge("MET"), b=judge("UNMET"))
    report = CAPITAL.grade_sync("text", grader)
    assert (report.score, report.report[0].by_tie) == (0.0, True)


def test_a_lenient_strategy_on_a_fault_warns(judge, panel):
    fault = Rubric([Criterion(requirement="Is rude.", weight=-5.0, name="rude"), Criterion(requirement="Is kind.")])
    grader = panel(a=judge("MET"), b=judge("MET"), c=judge("UNMET"), aggregation="unanimous")
    with pytest.warns(RubricWarning, match='"unanimous" is lenient on "rude"'):
        assert fault.grade_sync("text", grader).raw_score == 0.0


def test_abstentions_count_as_configured(judge):
    config = CannotAssessConfig(CannotAssessStrategy.PARTIAL, 0.25)
    grader = CriterionGrader(llm_config=LLMConfig(judge("CANNOT_ASSESS")), cannot_assess_config=config)
    with pytest.warns(RubricWarning, match="only 0% of the rubric's weights"):
        assert CAPITAL.grade_sync("text", grader).score == 0.25


def test_a_long_submission_loses_but_its_judges_do_not(judge):
    penalty = LengthPenalty(free_budget=10, max_cap=20, penalty_at_cap=0.5, exponent=1.0)
    config = LLMConfig(judge("MET"))
    grader = CriterionGrader(llm_config=config, length_penalty=penalty)
    report = CAPITAL.grade_sync("word " * 15, grader)
    assert (report.score, report.raw_score, report.judge_scores) == (0.75, 10.0, {"default": 1.0})
    assert CAPITAL.grade_sync("word " * 10, grader).score == 1.0
    with pytest.warns(RubricWarning, match="normalized scores only"):
        plain = CriterionGrader(llm_config=config, length_penalty=penalty, normalize=False)
    assert CAPITAL.grade_sync("word " * 30, plain).score == 10.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either llm_config"),
        ({"judges": []}, "at least one judge"),
        ({"aggregation": "bogus"}, '"bogus"'),
        ({"ordinal_aggregation": "majority"}, '"majority"'),
        ({"nominal_aggregation": "mean"}, '"mean"'),
        ({"llm_calls": "per_text"}, "llm_calls"),
        ({"few_shot_config": FewShotConfig()}, "needs training_data"),
        ({"training_data": RubricDataset(rubric=CAPITAL)}, "needs few_shot_config"),
        ({"training_data": RubricDataset(rubric=CAPITAL), "few_shot_config": FewShotConfig()}, "has a ground truth"),
        ({"shuffle": "sideways"}, "unknown shuffle"),
        ({"shuffle": "direction", "shuffle_options": False}, "exclude each other"),
        ({"min_coverage": 7.0}, "min_coverage"),
        ({"on_failed_criterion": "ignore"}, "on_failed_criterion"),
    ],
)
def test_what_is_wrong_with_a_grader_is_found_when_it_is_made(judge, arguments, message):
    given = {"llm_config": LLMConfig(judge("MET"))} if arguments and "judges" not in arguments else {}
    with pytest.raises(SpecError, match=message):
        CriterionGrader(**given, **arguments)


def test_judges_have_names_of_their_own_and_weights_that_count(judge):
    config = LLMConfig(judge("MET"))
    with pytest.raises(SpecError, match='two judges with the id "a"'):
        CriterionGrader(judges=[JudgeSpec(config, "a"), JudgeSpec(config, "a")])
    with pytest.raises(SpecError, match="positive number"):
        CriterionGrader(judges=[JudgeSpec(config, "a", weight=0.0)])
    with pytest.raises(SpecError, match="unknown provider"):
        CriterionGrader(llm_config=LLMConfig("opnai/gpt-5-mini"))


def test_a_submission_is_text(judge):
    with pytest.raises(SpecError, match="not int"):
        CAPITAL.grade_sync(3, CriterionGrader(llm_config=LLMConfig(judge("MET"))))


def test_graders_are_imported_from_their_own_path_too():
    from assay.rubric import graders

    assert graders.CriterionGrader is CriterionGrader


def test_reasons_of_the_training_data_are_shown_where_there_are_any(judge):
    polite = Rubric([Criterion(requirement="Is polite.")])
    training = RubricDataset(rubric=polite)
    training.add_item("Good morning!", ground_truth=["MET"], reasons=["It greets."])
    training.add_item("What now?", ground_truth=["UNMET"], reasons=[None])
    for shown in (True, False):
        asked = judge("MET")
        config = FewShotConfig(n_examples=2, include_reason=shown)
        grader = CriterionGrader(llm_config=LLMConfig(asked), few_shot_config=config, training_data=training)
        polite.grade_sync("You again?", grader)
        (question,) = asked.questions
        assert ("It greets." in question) is shown
        assert question.count("Why:") == int(shown)


def test_reasons_that_are_wanted_and_not_there_are_an_error_that_says_what_is_needed(judge):
    training = RubricDataset(rubric=Rubric([Criterion(requirement="Is polite.")]))
    training.add_item("Good morning!", ground_truth=["MET"])
    config = FewShotConfig(include_reason=True)
    with pytest.raises(SpecError, match=r"include_reason=True needs reasons.*reasons=\["):
        CriterionGrader(llm_config=LLMConfig(judge("MET")), few_shot_config=config, training_data=training)
